import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { connectAsync, type MqttClient } from 'mqtt';
import { readHubConfig } from '../../bin/hub/config.ts';
import { readAuthority } from '../../bin/hub/keys/certificates.ts';
import { placesIn } from '../../bin/hub/places.ts';
import { issueCertificate } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { newSigningKey, publicJwk } from '../../shared/fleet/signed.ts';
import { topics } from '../../shared/fleet/topics.ts';
import { memoryOf } from '../../shared/process/memory.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';

const missing = noMosquitto();
/** Measured: 102 to 107; each node in memory twice would be more. */
const MOST_MB = 120;
const WIDE = 'x'.repeat(900);
const idOf = (n: number): string => `node-${String(n).padStart(5, '0')}`;
/** As large as a real one. */
const status = (n: number) => ({
  mode: 'LOITER',
  position: { lat: n, lon: n },
  nonce: 'bootboot.1',
  more: WIDE,
});

function fill(folder: string, from: number, to: number): void {
  const db = new DatabaseSync(join(folder, 'hub.db'));
  const { x } = publicJwk(newSigningKey());
  const insert = db.prepare(
    'INSERT INTO nodes (id, name, profile, version, enrolled_at, key, status) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  db.exec('BEGIN');
  for (let n = from; n < to; n++)
    insert.run(idOf(n), `name of ${n}`, 'drone', '0.1.0', 1, x, JSON.stringify(status(n)));
  db.exec('COMMIT');
  db.close();
}

/** A client that may speak for every node: by its own certificate, because the name in it is its id at the broker. */
async function everybody(hub: TestHub, fleet: string, broker: string): Promise<MqttClient> {
  const authority = await readAuthority(placesIn(hub.folder));
  const key = newCertificateKey();
  const { pem } = await certificateRequest(key);
  const cert = await issueCertificate(authority, pem, { client: 'everybody' }, Date.now());
  await appendFile(join(hub.folder, 'broker.acl'), `\nuser everybody\ntopic readwrite svc/1/${fleet}/#\n`);
  process.kill(hub.brokerPid, 'SIGHUP');
  return connectAsync(broker, {
    ca: authority.certificate,
    cert,
    key,
    clientId: 'everybody',
    protocolVersion: 5,
  });
}

describe(`a large fleet at the hub${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(120_000);
  let hub: TestHub;
  before(async function () {
    if (missing !== null) this.skip();
    hub = await TestHub.init();
  });
  after(async () => hub?.stop());

  it('1000 nodes: all that is retained arrives when it connects, and it takes less than 120 MB', async () => {
    fill(hub.folder, 0, 1000);
    await hub.serve();
    const { fleet, broker } = await readHubConfig(join(hub.folder, 'hub.yaml'));
    const client = await everybody(hub, fleet, broker.url);
    const said: Promise<unknown>[] = [];
    for (let n = 0; n < 1000; n++) {
      const presence = {
        online: true,
        session: 'a',
        at: 1,
        version: '0.1.0',
        profile: 'drone',
        name: `name of ${n}`,
      };
      for (const [what, body] of [
        ['presence', presence],
        ['status', status(n)],
      ] as const)
        said.push(
          client.publishAsync(topics.told(fleet, idOf(n), what), JSON.stringify(body), {
            qos: 1,
            retain: true,
          }),
        );
      said.push(client.publishAsync(topics.told(fleet, idOf(n), 'telemetry'), JSON.stringify(status(n))));
    }
    await Promise.all(said);
    await client.endAsync();
    await allOnline();
    expect(await memoryOf(hub.pid)).to.be.lessThan(MOST_MB);
    await hub.kill('SIGTERM');
    await hub.serve();
    await allOnline();
    expect(await memoryOf(hub.pid)).to.be.lessThan(MOST_MB);
  });

  /** Resolves when the stream has told of 1000 that are online. */
  async function allOnline(): Promise<void> {
    const online = new Set<unknown>();
    await hub.streamed((name, node) => {
      if (name === 'node' && node['online'] === true) online.add(node['id']);
      return online.size === 1000;
    });
  }

  it('10 000 nodes are listed in pages', async () => {
    await hub.kill('SIGTERM');
    fill(hub.folder, 1000, 10_000);
    await hub.serve();
    const { body: all } = await hub.call('GET', '/v1/nodes');
    expect((all['nodes'] as readonly object[]).length).to.equal(100);
    expect(all).to.include({ total: 10_000 });
    const { body } = await hub.call('GET', '/v1/nodes?limit=3&q=node-09');
    expect(body).to.include({ total: 1000 });
  });
});
