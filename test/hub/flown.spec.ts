import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { TestNode } from '../support/node.ts';
import { BUCKET, KEYS, noS3Server, S3Server } from '../support/s3-server.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const headers = { 'x-svc-key': KEY };
const REPORTED_MS = 60_000;

/** A hub with its broker and a node with its simulated vehicle, all real. */
describe('a flight', function () {
  this.timeout(180_000);
  let hub: TestHub;
  let node: TestNode;
  let store: S3Server | null = null;
  let folder: string | undefined;
  before(async function () {
    if (noMosquitto() !== null) return this.skip();
    folder = await tempDir();
    if (noS3Server() === null) store = await S3Server.start(folder);
    const { access_key_id: id, secret_access_key: secret } = KEYS;
    const upload =
      store === null
        ? ''
        : `security:\n  near_hosts: [127.0.0.1]\nupload:\n  endpoint: ${store.url}\n  bucket: ${BUCKET}\n  access_key_id: ${id}\n  secret_access_key: ${secret}\n`;
    [hub, node] = await Promise.all([
      TestHub.start(),
      TestNode.start({ pairing: { key: KEY }, config: upload }),
    ]);
    const { body } = await hub.call('POST', '/v1/codes');
    const said = await svc(
      node.paths,
      'fleet',
      'enroll',
      `https://127.0.0.1:${hub.httpsPort}`,
      String(body['code']),
    );
    expect(said.code, said.stderr).to.equal(0);
    await hub.streamed((_name, { online }) => online === true);
  });
  after(async () => {
    await Promise.all([hub?.stop(), node?.stop(), store?.kill()]);
    if (folder !== undefined) await removeDir(folder);
  });

  const fly = async (): Promise<void> => {
    await armable(node, headers);
    for (const [cmd, ...args] of [['mode', 'GUIDED'], ['arm'], ['takeoff', 8]])
      expect((await node.post('/api/command', { cmd, args }, headers)).body, String(cmd)).to.include({
        status: 'accepted',
      });
    await telemetry(node, ({ position }) => (position as { alt_rel: number }).alt_rel > 7.5, headers);
    await node.post('/api/command', { cmd: 'land' }, headers);
    await telemetry(node, ({ armed }) => armed === false, headers);
  };
  const flights = async (count: number) =>
    (
      await askAgain(
        `${count} flights are at the hub`,
        async () => hub.call('GET', '/v1/flights'),
        ({ body }) => (body['flights'] as readonly unknown[]).length === count,
        REPORTED_MS,
      )
    ).body['flights'] as readonly Readonly<Record<string, unknown>>[];

  it('is at the hub soon after its landing, with its figures and its track', async () => {
    await fly();
    const [flight] = await flights(1);
    expect(flight?.['armed_s']).to.be.within(5, 120);
    expect(flight?.['max_height_m']).to.be.within(6.5, 9);
    expect(flight?.['pilots']).to.deep.equal(['pairing-key']);
    const one = (await hub.call('GET', `/v1/flights/${String(flight?.['id'])}`)).body;
    expect((one['modes'] as readonly { name: string }[]).map(({ name }) => name)).to.include.members([
      'GUIDED',
      'LAND',
    ]);
    const { geometry } = one['track'] as { geometry: { coordinates: readonly unknown[] } };
    expect(geometry.coordinates).to.have.length.above(5);
  });

  it('has a link to its telemetry log once that is uploaded', async function () {
    if (store === null) return this.skip();
    const [flight] = await flights(1);
    await node.killAndAwaitSuccessor('svc-link'); // nothing is written to the log any more
    const files = async () =>
      (await hub.call('GET', `/v1/flights/${String(flight?.['id'])}`)).body['files'] as readonly {
        readonly kind: string;
        readonly name: string;
        readonly url: string | null;
      }[];
    const [log, ...others] = await askAgain(
      'the log has a link',
      files,
      ([first]) => first?.url !== null,
      REPORTED_MS,
    );
    expect(others).to.deep.equal([]);
    expect(log?.kind).to.equal('tlogs');
    const device = (await readFile(node.paths.deviceId, 'utf8')).trim();
    expect(log?.url).to.equal(`${store?.url}/${BUCKET}/${device}/tlogs/${log?.name}`);
    expect((await store?.object(`${device}/tlogs/${log?.name}`))?.length).to.be.above(1000);
  });

  it('while the hub is away is there when it is back, once', async () => {
    await hub.kill();
    await fly();
    await hub.serve();
    const [newest, first] = await flights(2);
    expect(newest?.['flight']).not.to.equal(first?.['flight']);
    const { body } = await hub.call('GET', '/v1/airframes');
    expect((body['airframes'] as readonly object[])[0]).to.include({ flights: 2 });
  });
});
