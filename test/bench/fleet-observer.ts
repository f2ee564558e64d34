/** A process of the fleet bench that counts what the broker carries, beside the hub and with its right to read. */
import { connectAsync } from 'mqtt';
import { parseTold, topics } from '../../shared/fleet/topics.ts';

interface Node {
  telemetry: number;
  first: number;
  last: number;
}

export interface Counts {
  /** Connections that nodes have made. */
  readonly sessions: number;
  readonly telemetry: number;
  /** Numbers between a node's first and last that did not come. */
  readonly telemetryLost: number;
}

export interface BeginObserver {
  readonly type: 'begin';
  readonly broker: string;
  readonly fleet: string;
  readonly identity: { readonly ca: string; readonly cert: string; readonly key: string };
}
export type ToObserver = BeginObserver | { readonly type: 'count' } | { readonly type: 'forget telemetry' };

const nodes = new Map<string, Node>();
const sessions = new Set<string>();

async function begin({ broker, fleet, identity }: BeginObserver): Promise<void> {
  const client = await connectAsync(broker, {
    ...identity,
    clientId: 'observer',
    protocolVersion: 5,
    reconnectPeriod: 500,
    clean: true,
    properties: { receiveMaximum: 65_535 },
  });
  client.on('message', (topic, payload) => {
    const told = parseTold(topic);
    if (told === null || payload.length === 0) return;
    const body = JSON.parse(payload.toString()) as Record<string, unknown>;
    if (told.what === 'presence' && body['online'] === true) sessions.add(String(body['session']));
    if (told.what !== 'telemetry') return;
    const last = Number(body['n']);
    const node = nodes.get(told.node) ?? { telemetry: 0, first: last, last };
    nodes.set(told.node, { telemetry: node.telemetry + 1, first: node.first, last });
  });
  // The library subscribes again by itself when it comes back.
  const whats = ['presence', 'telemetry'] as const;
  await client.subscribeAsync(
    whats.map((what) => topics.allTold(fleet, what)),
    { qos: 1 },
  );
}

function counts(): Counts {
  const all = [...nodes.values()];
  return {
    sessions: sessions.size,
    telemetry: all.reduce((sum, { telemetry }) => sum + telemetry, 0),
    telemetryLost: all.reduce((sum, { telemetry, first, last }) => sum + last - first + 1 - telemetry, 0),
  };
}

process.on('message', (message: ToObserver) => {
  switch (message.type) {
    case 'begin':
      begin(message).then(
        () => process.send?.(counts()),
        (error: unknown) => {
          throw error;
        },
      );
      break;
    case 'count':
      process.send?.(counts());
      break;
    case 'forget telemetry':
      nodes.clear();
      process.send?.(counts());
      break;
  }
});
process.once('disconnect', () => process.exit());
