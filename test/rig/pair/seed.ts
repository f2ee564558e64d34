import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredRadio } from '../../../front/control/radio/pair-store.ts';
import { deviceId } from '../../../front/control/stores/device-id.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { type Paths, pathsFrom } from '../../../shared/paths.ts';
import { agree, makeRadioKeys, type RadioKeyPair } from '../../../shared/radio-keys.ts';
import { directoriesOf, ENDS, type End, type EndPorts, LOSS_FILE, type Ports, TUNNEL } from './layout.ts';

const HEAD = '# Written by `npm run start:pair`. Change it with PUT /api/config, or by hand and restart.\n';

const configOf: Readonly<Record<End, (ports: EndPorts) => string>> = {
  drone: ({ mavlink, tcp, video }) => `mavlink:
  source: sim
  endpoints:
    - udpout:127.0.0.1:${mavlink}
    - tcp:127.0.0.1:${tcp}
video:
  source: test
  radio: 127.0.0.1:${video}
`,
  ground: ({ mavlink, tcp, video }) => `agent:
  profile: ground-station
mavlink:
  source: udp:127.0.0.1:${mavlink}
  endpoints:
    - tcp:127.0.0.1:${tcp}
video:
  source: rtp:127.0.0.1:${video}
`,
};

/** What both nodes have before their first start: a config each, and radios that are bound to each other. */
export async function seedPair(ports: Ports, now: Date): Promise<void> {
  const drone = pathsFrom(directoriesOf('drone'));
  const ground = pathsFrom(directoriesOf('ground'));
  for (const end of ENDS) await seedConfig(end, ports);
  if (!existsSync(drone.radioPairs) || !existsSync(ground.radioPairs)) await bind(drone, ground, now);
  await writeAtomic(LOSS_FILE, '0\n', 0o644);
}

async function seedConfig(end: End, ports: Ports): Promise<void> {
  const paths = pathsFrom(directoriesOf(end));
  await mkdir(paths.etc, { recursive: true });
  if (existsSync(paths.config)) return;
  const radio = `radio:
  mode: external
  api_port: ${ports[end].api}
  relay_port: ${ports.relay}
  tunnel:
    drone: ${TUNNEL[end]}
`;
  const text = `${HEAD}api:\n  port: ${ports[end].http}\n  tls_port: ${ports[end].https}\n${configOf[end](ports[end])}${radio}`;
  await writeAtomic(paths.config, text, 0o600);
}

/** As a binding over a cable leaves it (docs/contract/ground.md#binding). */
async function bind(drone: Paths, ground: Paths, now: Date): Promise<void> {
  const keys = { drone: makeRadioKeys(), ground: makeRadioKeys() };
  const ids = { drone: await deviceId(drone.deviceId), ground: await deviceId(ground.deviceId) };
  await write(drone, keys.drone, keys.ground, ids.ground, now);
  await write(ground, keys.ground, keys.drone, ids.drone, now);
}

async function write(
  paths: Paths,
  own: RadioKeyPair,
  peer: RadioKeyPair,
  device: string,
  now: Date,
): Promise<void> {
  const { fingerprint, relaySecret } = agree(own.secret, peer.publicKey);
  const radio: StoredRadio = {
    slot: 0,
    device_id: device,
    name: '',
    fingerprint,
    paired_at: now.toISOString(),
    proved: false,
    own_secret: own.secret.toString('hex'),
    peer_public: peer.publicKey.toString('hex'),
    relay_secret: relaySecret.toString('hex'),
    previous: null,
  };
  await mkdir(paths.radioKeys, { recursive: true, mode: 0o700 });
  await writeAtomic(join(paths.radioKeys, 'slot-0.key'), Buffer.concat([own.secret, peer.publicKey]), 0o600);
  await writeAtomic(paths.radioPairs, `${JSON.stringify({ version: 1, pairs: [radio] }, null, 2)}\n`, 0o600);
}
