/** A process of the bench of replicas: many nodes as the broker sees them, without what is behind them on a real one. Told what to do over Node's IPC. */
import { connect, type MqttClient } from 'mqtt';
import { type Authority, issueCertificate } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { topics } from '../../shared/fleet/topics.ts';

export interface BeginCrowd {
  readonly type: 'begin';
  readonly nodes: readonly string[];
  readonly fleet: string;
  readonly broker: string;
  readonly authority: Authority;
}
export type ToCrowd =
  | BeginCrowd
  /** Each node sends so many events a second from now on, one after the other; 0: none. */
  | { readonly type: 'events'; readonly perSecond: number };
export interface FromCrowd {
  readonly connected: number;
  /** From the event that left to its acknowledgement, ms; those since the last report. */
  readonly acknowledgedMs: readonly number[];
}

const TELEMETRY_MS = 1000;
const STATUS_MS = 10_000;
const REPORT_MS = 250;
/** So many may connect at once. */
const CONNECTING = 50;
const STATUS = {
  armed: true,
  fc_connected: true,
  mode: 'AUTO',
  battery_percent: 71,
  audit_head: null,
  events_behind: 0,
};
const TELEMETRY = {
  mode: 'AUTO',
  velocity: { vx: 4.1, vy: -2.2, vz: 0.1, groundspeed: 4.65, airspeed: 4.7, climb: -0.1 },
  attitude: { roll: 0.01, pitch: -0.05, yaw: 2.11 },
  battery: { voltage: 15.9, current: 12.1, remaining: 71 },
  rc: { channels: [1500, 1500, 1000, 1500, 1800, 1000, 1500, 1500], rssi: 98 },
};

interface Node {
  readonly id: string;
  readonly client: MqttClient;
  seq: number;
  sentAt: number | null;
}

const nodes: Node[] = [];
let acknowledgedMs: number[] = [];
let fleetId = '';
let turn = 0;
let timer: NodeJS.Timeout | undefined;

async function begin({ nodes: ids, fleet, broker, authority }: BeginCrowd): Promise<void> {
  fleetId = fleet;
  const key = newCertificateKey();
  const { pem } = await certificateRequest(key);
  for (const id of ids) {
    while (nodes.filter(({ client }) => !client.connected).length > CONNECTING)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const cert = await issueCertificate(authority, pem, { client: id }, Date.now());
    const said = { session: id, at: 1, version: '1', profile: 'drone', name: id };
    const presence = topics.told(fleet, id, 'presence');
    const client = connect(broker, {
      ca: authority.certificate,
      cert,
      key,
      clientId: id,
      protocolVersion: 5,
      // Spread, as `fleet.retry` of nodes is.
      reconnectPeriod: 1000 + Math.random() * 9000,
      writeCache: false,
      will: {
        topic: presence,
        payload: Buffer.from(JSON.stringify({ ...said, online: false })),
        qos: 1,
        retain: true,
      },
    });
    const node: Node = { id, client, seq: 0, sentAt: null };
    nodes.push(node);
    client.on('error', () => undefined);
    client.on('connect', () => {
      client.subscribe(topics.ack(fleet, id), { qos: 1 });
      client.publish(presence, JSON.stringify({ ...said, online: true }), { qos: 1, retain: true });
      status(node);
    });
    client.on('message', (_topic, payload) => {
      const { seq } = JSON.parse(
        Buffer.from(payload.toString().split('.')[1] ?? '', 'base64url').toString(),
      ) as {
        readonly seq: number;
      };
      if (node.sentAt === null || seq < node.seq) return;
      acknowledgedMs.push(performance.now() - node.sentAt);
      node.sentAt = null;
    });
    setTimeout(() => {
      setInterval(() => status(node), STATUS_MS);
      setInterval(() => {
        const position = {
          lat: 47 + Math.random(),
          lon: 8 + Math.random(),
          alt_msl: 520,
          alt_rel: 40,
          heading: 90,
        };
        if (client.connected)
          client.publish(topics.told(fleet, id, 'telemetry'), JSON.stringify({ ...TELEMETRY, position }));
      }, TELEMETRY_MS);
    }, Math.random() * STATUS_MS);
  }
}

function status({ id, client }: Node): void {
  const position = {
    lat: 47 + Math.random(),
    lon: 8 + Math.random(),
    alt_m: 520,
    relative_alt_m: 40,
    heading: 90,
  };
  const body = { ...STATUS, at: Date.now(), nonce: `${id}boot.1`, position };
  if (client.connected)
    client.publish(topics.told(fleetId, id, 'status'), JSON.stringify(body), { qos: 1, retain: true });
}

function event(): void {
  const node = nodes[turn++ % nodes.length];
  if (node === undefined || node.sentAt !== null || !node.client.connected) return;
  node.seq++;
  node.sentAt = performance.now();
  const body = { stream: 's', seq: node.seq, at: Date.now(), kind: 'vehicle.mode', detail: { mode: 'AUTO' } };
  node.client.publish(topics.told(fleetId, node.id, 'event'), JSON.stringify(body), { qos: 1 });
}

process.on('message', (message: ToCrowd) => {
  if (message.type === 'begin') void begin(message);
  else {
    clearInterval(timer);
    if (message.perSecond > 0) timer = setInterval(event, 1000 / message.perSecond);
  }
});
setInterval(() => {
  process.send?.({
    connected: nodes.filter(({ client }) => client.connected).length,
    acknowledgedMs,
  } satisfies FromCrowd);
  acknowledgedMs = [];
}, REPORT_MS);
