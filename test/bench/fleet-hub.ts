/**
 * The hub of the fleet bench: it hears all, counts, and acknowledges events as soon as it has them. In place of svc-hub, so that
 * what the nodes and the broker cost is measured alone.
 */
import { connectAsync } from 'mqtt';
import type { FleetEvent } from '../../shared/fleet/told.ts';
import { parseTold, topics } from '../../shared/fleet/topics.ts';

interface Node {
  telemetry: number;
  first: number;
  last: number;
  stream: string;
  seq: number;
  /** How many events came, each with its number from 0: the next must have this one. */
  events: number;
}

export interface HubCounts {
  readonly nodes: number;
  readonly online: number;
  /** Connections that nodes have made. */
  readonly sessions: number;
  readonly telemetry: number;
  /** Numbers between a node's first and last that did not come. */
  readonly telemetryLost: number;
  /** The least that any node has. */
  readonly fewestEvents: number;
  readonly repeats: number;
  readonly outOfOrder: number;
}

export interface BeginHub {
  readonly type: 'begin';
  readonly broker: string;
  readonly fleet: string;
  readonly identity: { readonly ca: string; readonly cert: string; readonly key: string };
}
export type ToHub = BeginHub | { readonly type: 'count' } | { readonly type: 'forget telemetry' };

const nodes = new Map<string, Node>();
const online = new Set<string>();
const sessions = new Set<string>();
let repeats = 0;
let outOfOrder = 0;

async function begin({ broker, fleet, identity }: BeginHub): Promise<void> {
  const client = await connectAsync(broker, {
    ...identity,
    clientId: 'hub',
    protocolVersion: 5,
    reconnectPeriod: 500,
    clean: true,
    properties: { receiveMaximum: 65_535 },
  });
  client.on('message', (topic, payload) => {
    const told = parseTold(topic);
    if (told === null || payload.length === 0) return;
    const body = JSON.parse(payload.toString()) as Record<string, unknown>;
    let node = nodes.get(told.node);
    if (node === undefined) {
      node = { telemetry: 0, first: 0, last: 0, stream: '', seq: 0, events: 0 };
      nodes.set(told.node, node);
    }
    switch (told.what) {
      case 'presence':
        if (body['online'] === true) {
          online.add(told.node);
          sessions.add(String(body['session']));
        } else online.delete(told.node);
        break;
      case 'telemetry':
        node.telemetry++;
        node.last = Number(body['n']);
        if (node.telemetry === 1) node.first = node.last;
        break;
      case 'event': {
        const { stream, seq, kind, detail } = body as unknown as FleetEvent;
        if (stream === node.stream && seq <= node.seq) repeats++;
        else {
          if (kind !== 'telemetry' && detail['n'] !== node.events++) outOfOrder++;
          node.stream = stream;
          node.seq = seq;
        }
        client.publish(topics.ack(fleet, told.node), JSON.stringify({ stream, seq: node.seq }), {
          qos: 1,
          retain: true,
        });
        break;
      }
      case 'status':
        break;
    }
  });
  // The library subscribes again by itself when it comes back.
  const whats = ['presence', 'status', 'telemetry', 'event'] as const;
  await client.subscribeAsync(
    whats.map((what) => topics.allTold(fleet, what)),
    { qos: 1 },
  );
}

function counts(): HubCounts {
  const all = [...nodes.values()];
  return {
    nodes: all.length,
    online: online.size,
    sessions: sessions.size,
    telemetry: all.reduce((sum, { telemetry }) => sum + telemetry, 0),
    telemetryLost: all.reduce(
      (sum, { telemetry, first, last }) => sum + (telemetry === 0 ? 0 : last - first + 1 - telemetry),
      0,
    ),
    fewestEvents: Math.min(...all.map(({ events }) => events)),
    repeats,
    outOfOrder,
  };
}

process.on('message', (message: ToHub) => {
  switch (message.type) {
    case 'begin':
      begin(message).then(
        () => process.send?.({ type: 'counts', ...counts() }),
        (error: unknown) => {
          throw error;
        },
      );
      break;
    case 'count':
      process.send?.({ type: 'counts', ...counts() });
      break;
    case 'forget telemetry':
      for (const node of nodes.values()) node.telemetry = 0;
      process.send?.({ type: 'counts', ...counts() });
      break;
  }
});
process.once('disconnect', () => process.exit());
