/** A process of the fleet bench: many nodes' clients, each with a vehicle that moves. Told what to do over Node's IPC. */
import { createPrivateKey } from 'node:crypto';
import { EventQueue } from '../../front/fleet/event-queue.ts';
import { FleetClient } from '../../front/fleet/fleet-client.ts';
import type { Authority } from '../../shared/certificates/authority.ts';
import { issueCertificate } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { publicJwk, signStatement, thumbprint } from '../../shared/fleet/signed.ts';
import { createLogger } from '../../shared/process/logger.ts';

/** As from a simulated vehicle: the members of `fleet.telemetry_fields`. */
const BODY = {
  mavlink_alive: true,
  mode: 'AUTO',
  armed: true,
  velocity: { vx: 4.1, vy: -2.2, vz: 0.1, groundspeed: 4.65, airspeed: 4.7, climb: -0.1 },
  attitude: { roll: 0.01, pitch: -0.05, yaw: 2.11 },
  battery: { voltage: 15.9, current: 12.1, remaining: 71, temperature: null, cell_voltages: null },
  gps: { fix_type: 3, satellites: 17, eph: 0.8, epv: 1.1 },
  rc: { channels: [1500, 1500, 1000, 1500, 1800, 1000, 1500, 1500], rssi: 98 },
};

export interface Begin {
  readonly type: 'begin';
  readonly nodes: readonly string[];
  readonly fleet: string;
  readonly broker: string;
  readonly authority: Authority;
  /** PKCS #8 PEM: with it all of them sign their replies. */
  readonly signing: string;
}
export type ToNodes = Begin | { readonly type: 'connect' } | { readonly type: 'events' };
export type FromNodes =
  | { readonly type: 'made' }
  | {
      readonly type: 'state';
      readonly connected: number;
      /** Events that were begun, a node. */
      readonly events: number;
      readonly behind: number;
    };

const log = createLogger('bench', 'error');
const clients: FleetClient[] = [];
let events = 0;

async function make({ nodes, fleet, broker, authority, signing }: Begin): Promise<void> {
  const signer = createPrivateKey(signing);
  const kid = await thumbprint(publicJwk(signer));
  for (const [index, node] of nodes.entries()) {
    const key = newCertificateKey();
    const { pem } = await certificateRequest(key);
    const certificate = await issueCertificate(authority, pem, { client: node }, Date.now());
    const place = {
      node,
      fleet,
      brokers: [broker],
      key,
      certificate,
      ca: authority.certificate,
      name: node,
      profile: 'drone' as const,
      version: '0.1.0',
    };
    let n = 0;
    const telemetry = (): Readonly<Record<string, unknown>> => {
      const position = {
        lat: 47 + n * 1e-5,
        lon: 8 + index * 1e-3 + n * 1e-5,
        alt_msl: 520.1,
        alt_rel: 40.2,
        heading: n % 360,
      };
      return { ...BODY, position, n: ++n };
    };
    const queue = new EventQueue({
      path: ':memory:',
      owner: node,
      maxBytes: 1_000_000,
      log,
      now: Date.now,
    });
    clients.push(
      new FleetClient({
        place,
        control: {
          status: async () => ({
            at: Date.now(),
            armed: true,
            fc_connected: true,
            fc_heartbeat_age_s: 0.5,
            mode: 'AUTO',
            battery_percent: 71,
            position: null,
            audit_head: null,
            nonce: 'boot0000.1',
          }),
          telemetry: async () => telemetry(),
          call: async ({ jws }) => {
            if (!jws.includes('.')) return { reply: jws }; // of the round trips without signatures
            const jti = String(payloadOf(jws)['jti']);
            return {
              reply: await signStatement('svc-reply', { node, jti, status: 200, body: {} }, signer, kid),
            };
          },
          policy: async () => ({ seq: 1 }),
          ack: async ({ jws }) => {
            const { stream, seq } = payloadOf(jws);
            return { stream: String(stream), seq: Number(seq) };
          },
          watch: async ({ jws }) =>
            (({ telemetry_hz, pictures_hz, seconds }) => ({
              telemetry_hz: Number(telemetry_hz),
              pictures_hz: Number(pictures_hz),
              seconds: Number(seconds),
            }))(payloadOf(jws)),
          report: async () => ({}),
        },
        queue,
        telemetryHz: 1,
        telemetryFields: [...Object.keys(BODY), 'position', 'n'],
        log,
        random: Math.random,
        wall: () => Date.now(),
        now: () => performance.now(),
      }),
    );
  }
}

function payloadOf(jws: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString()) as Readonly<
    Record<string, unknown>
  >;
}

function tell(message: FromNodes): void {
  process.send?.(message);
}

process.on('message', (message: ToNodes) => {
  switch (message.type) {
    case 'begin':
      make(message).then(
        () => tell({ type: 'made' }),
        (error: unknown) => {
          throw error;
        },
      );
      break;
    case 'connect':
      for (const client of clients) client.start();
      setInterval(() => {
        const connected = clients.filter((client) => client.connected).length;
        const behind = clients.reduce((sum, client) => sum + client.state().events_behind, 0);
        tell({ type: 'state', connected, events, behind });
      }, 500);
      break;
    case 'events':
      for (const client of clients)
        client.append([{ at: Date.now(), kind: 'vehicle.mode', detail: { n: events, mode: 'AUTO' } }]);
      events++;
      break;
  }
});
process.once('disconnect', () => process.exit());
