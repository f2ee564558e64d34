import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { DRONE_NEARBY } from '../../front/control/radio/drone-api.ts';
import { PairStore } from '../../front/control/radio/pair-store.ts';
import { RadioPairing } from '../../front/control/radio/radio-pairing.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { agree, makeRadioKeys } from '../../shared/radio-keys.ts';
import { needs } from '../support/needs.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, DRONE, GROUND } from '../support/radios.ts';
import { selfSigned } from '../support/secure.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const GROUND_KEY = 'svc_ground789abcdef0123456789abcdef0123456789a';
const PAIR = '/api/wfb/pair';
const log = createLogger('test', 'error');

describe('binding the radios of two nodes', () => {
  let drone: TestNode;
  let ground: TestNode;
  let relay: number;

  before(async () => {
    relay = await freePort();
    const radio = `radio:\n  relay_port: ${relay}\n  tunnel:\n    drone: 127.0.0.3\n`;
    [drone, ground] = await Promise.all([
      TestNode.start({
        simulated: false,
        tlsPort: await freePort(),
        config: `${radio}agent:\n  name: kestrel\n`,
        prepare: bindTo(DRONE),
      }),
      TestNode.start({
        pairing: { key: GROUND_KEY },
        simulated: false,
        config: `${radio}agent:\n  profile: ground-station\n  name: tent\n`,
        prepare: bindTo(GROUND),
      }),
    ]);
    await Promise.all([drone.knowsArmed(), ground.knowsArmed()]);
  });
  after(async () => {
    await Promise.all([drone.stop(), ground.stop()]);
  });

  const withKey = { 'x-svc-key': GROUND_KEY };
  let droneKey = '';
  const host = (): string => `127.0.0.1:${drone.port}`;
  const pairs = async (node: TestNode, key: string) =>
    (await node.json(PAIR, { headers: { 'x-svc-key': key } })).body['pairs'] as {
      device_id: string;
      name: string;
      fingerprint: string;
      proved: boolean;
      slot: number;
    }[];
  const proved = async (node: TestNode, key: string): Promise<boolean> => {
    const end = performance.now() + 10_000;
    while (performance.now() < end) if ((await pairs(node, key))[0]?.proved === true) return true;
    return false;
  };

  it('an unpaired drone is claimed with its code first; the key is told once and not kept', async () => {
    const { code } = (await drone.json('/api/pairing/code')).body;
    const wrong = await ground.post(PAIR, { host: host(), code: 'XXXXXX' }, withKey);
    expect([wrong.status, wrong.body['code']]).to.deep.equal([502, 'E_UPSTREAM']);
    const { status, body } = await ground.post(PAIR, { host: host(), code }, withKey);
    expect([status, body['device_id']], JSON.stringify(body)).to.deep.equal([200, DRONE]);
    expect(body['drone_key']).to.match(/^svc_/);
    droneKey = String(body['drone_key']);
    const kept = await readFile(ground.paths.radioPairs, 'utf8');
    expect(kept).to.not.include(droneKey);
    const [atGround] = await pairs(ground, GROUND_KEY);
    const [atDrone] = await pairs(drone, droneKey);
    expect(atGround).to.include({ device_id: DRONE, name: 'kestrel', slot: 0 });
    expect(atDrone).to.include({ device_id: GROUND, name: 'tent', slot: 0 });
    expect(atGround?.fingerprint)
      .to.equal(atDrone?.fingerprint)
      .and.to.match(/^[0-9a-f]{4}( [0-9a-f]{4}){7}$/);
  });
  it('the key files are wfb-ng’s: own secret and the other’s public key, for nobody else to read', async () => {
    const read = async (node: TestNode) => {
      const file = join(node.paths.radioKeys, 'slot-0.key');
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      return readFile(file);
    };
    const [one, other] = [await read(drone), await read(ground)];
    expect([one.length, other.length]).to.deep.equal([64, 64]);
    const [atDrone] = await pairs(drone, droneKey);
    const fingerprintOf = (file: Buffer) => agree(file.subarray(0, 32), file.subarray(32)).fingerprint;
    expect([fingerprintOf(one), fingerprintOf(other)]).to.deep.equal([
      atDrone?.fingerprint,
      atDrone?.fingerprint,
    ]);
    expect(one.subarray(0, 32).equals(other.subarray(0, 32))).to.equal(false);
  });
  it('is proved on both ends once the relay has carried something with the new key', async () => {
    expect(await proved(ground, GROUND_KEY)).to.equal(true);
    expect(await proved(drone, droneKey)).to.equal(true);
  });
  it('again: another key, which is proved again', async () => {
    const [before] = await pairs(ground, GROUND_KEY);
    const { status } = await ground.post(PAIR, { host: host(), key: droneKey }, withKey);
    expect(status).to.equal(200);
    const [now] = await pairs(ground, GROUND_KEY);
    expect(now?.fingerprint).to.not.equal(before?.fingerprint);
    expect(await proved(ground, GROUND_KEY)).to.equal(true);
    const stored = await readFile(ground.paths.radioPairs, 'utf8');
    expect(stored).to.include('"previous": null');
  });
  it('of a drone that serves HTTPS only the port is asked in the clear; another authority than its own is refused', async function () {
    needs(this, 'openssl');
    let tls: unknown = (await drone.json('/api/tls')).body;
    const asked: string[] = [];
    const clear = createServer((req, res) => {
      asked.push(`${req.method} ${req.url}`);
      res.setHeader('content-type', 'application/json');
      res.end(req.url === '/api/tls' ? JSON.stringify(tls) : '{}');
    }).listen(0, '127.0.0.1');
    await once(clear, 'listening');
    const at = `127.0.0.1:${(clear.address() as AddressInfo).port}`;
    const bind = async () => ground.post(PAIR, { host: at, key: droneKey }, withKey);
    expect((await bind()).status).to.equal(200);
    expect(asked).to.deep.equal(['GET /api/tls']);
    expect(await proved(ground, GROUND_KEY)).to.equal(true);

    // What listens there shows the drone's authority, and has not its key.
    const folder = await tempDir();
    const [cert, key] = [join(folder, 'c.pem'), join(folder, 'k.pem')];
    await selfSigned('drone', cert, key);
    const ca = await (await drone.fetch('/ca.crt')).text();
    const got: string[] = [];
    const impostor = createSecureServer(
      { cert: await readFile(cert), key: await readFile(key) },
      (req, res) => {
        got.push(`${req.url} ${String(req.headers['x-svc-key'])}`);
        res.end(req.url === '/ca.crt' ? ca : '{}');
      },
    ).listen(0, '127.0.0.1');
    await once(impostor, 'listening');
    tls = { port: (impostor.address() as AddressInfo).port };
    const refused = await bind();
    expect([refused.status, refused.body['code']]).to.deep.equal([502, 'E_UPSTREAM']);
    expect(got).to.deep.equal(['/ca.crt undefined']);
    clear.close();
    impostor.close();
    await removeDir(folder);
  });
  it('a wrong key, another form, a third node: refused, and nothing changes', async () => {
    const [before] = await pairs(ground, GROUND_KEY);
    const refused = async (node: TestNode, key: string, body: unknown) => {
      const answer = await node.post(PAIR, body, { 'x-svc-key': key });
      return [answer.status, answer.body['code']];
    };
    expect(await refused(ground, GROUND_KEY, { host: host(), key: 'svc_wrongwrong' })).to.deep.equal([
      502,
      'E_UPSTREAM',
    ]);
    expect(await refused(ground, GROUND_KEY, { host: '192.0.2.1', key: droneKey })).to.deep.equal([
      403,
      'E_REMOTE',
    ]);
    expect(await refused(ground, GROUND_KEY, { host: host() })).to.deep.equal([422, 'E_INVALID_VALUE']);
    expect(await refused(ground, GROUND_KEY, { host: 'a b', key: droneKey })).to.deep.equal([
      422,
      'E_INVALID_VALUE',
    ]);
    const third = {
      ground_id: 'somebody',
      ground_name: '',
      public_key: makeRadioKeys().publicKey.toString('hex'),
    };
    expect(await refused(drone, droneKey, third)).to.deep.equal([409, 'E_PAIRED']);
    expect(await refused(ground, GROUND_KEY, third)).to.deep.equal([422, 'E_INVALID_VALUE']);
    const small = { ...third, ground_id: GROUND, public_key: '00'.repeat(32) };
    expect(await refused(drone, droneKey, small)).to.deep.equal([422, 'E_INVALID_VALUE']);
    expect((await pairs(ground, GROUND_KEY))[0]).to.deep.equal(before);
  });
  it('a ground station that is cut off by name has no connection any more', async () => {
    const path = `/api/v1/ground-station/relay-proxy/${DRONE}/api/pairing/info`;
    expect((await ground.json(path, { headers: withKey })).status).to.equal(200);
    const headers = { 'x-svc-key': droneKey };
    expect((await drone.json(`${PAIR}?device_id=nobody`, { method: 'DELETE', headers })).status).to.equal(
      404,
    );
    expect((await drone.json(PAIR, { method: 'DELETE', headers })).status).to.equal(422);
    const cut = await drone.json(`${PAIR}?device_id=${GROUND}`, { method: 'DELETE', headers });
    expect(cut.body).to.deep.equal({ paired: false, device_id: GROUND });
    const { status, body } = await ground.json(path, { headers: withKey });
    expect([status, body['code']]).to.deep.equal([503, 'E_UPSTREAM_DOWN']);
    expect(await readdir(drone.paths.etc)).to.not.include('radio-keys');
  });
});

describe('a binding that breaks', () => {
  let dir: string;
  let fake: Server;
  let answer: RequestListener;
  let changes: number;

  beforeEach(async () => {
    dir = await tempDir();
    changes = 0;
    fake = createServer((req, res) => answer(req, res)).listen(0, '127.0.0.1');
    await once(fake, 'listening');
  });
  afterEach(async () => {
    fake.closeAllConnections();
    fake.close();
    await removeDir(dir);
  });

  const host = (): string => `127.0.0.1:${(fake.address() as AddressInfo).port}`;
  const file = (): string => join(dir, 'pairs.json');
  const begin = async (profile: 'drone' | 'ground-station', proofMs = 60_000, drones = 8) => {
    const store = new PairStore({ file: file(), keys: join(dir, 'keys'), log });
    await store.start();
    store.onChange(() => {
      changes++;
    });
    const pairing = new RadioPairing({
      store,
      profile,
      deviceId: profile === 'drone' ? DRONE : GROUND,
      name: 'x',
      drone: DRONE_NEARBY,
      drones,
      now: Date.now,
      proofMs,
      log,
    });
    await pairing.start();
    return { store, pairing };
  };
  const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'done',
      (error: { code?: unknown }) => error.code,
    );
  const json =
    (status: number, body: unknown): RequestListener =>
    (_req, res) => {
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };

  it('at the drone: closed, no JSON, refused, another fingerprint, a redirect: nothing is kept', async () => {
    const { store, pairing } = await begin('ground-station');
    const half = {
      device_id: DRONE,
      public_key: makeRadioKeys().publicKey.toString('hex'),
      fingerprint: 'x',
    };
    for (const listener of [
      (req) => req.socket.destroy(),
      (_req, res) => res.end('<html>'),
      json(401, { detail: 'no', code: 'E_UNAUTHENTICATED' }),
      json(200, half),
      json(200, { ...half, public_key: '00'.repeat(32) }),
      (_req, res) => res.writeHead(302, { location: `http://${host()}/x` }).end(),
    ] as RequestListener[]) {
      answer = listener;
      expect(await codeOf(pairing.pair({ host: host(), key: 'svc_12345678' }))).to.be.oneOf([
        'E_UPSTREAM',
        'E_INVALID_VALUE',
      ]);
    }
    expect([store.list(), changes]).to.deep.equal([[], 0]);
    await pairing.stop();
  });
  it('where somebody else runs wfb-ng: a second drone, which could never have a link, is refused before it is claimed', async () => {
    const bound = boundPair('0000000000d7', GROUND, 3);
    await writeFile(file(), JSON.stringify({ version: 1, pairs: [bound.atGround] }), { mode: 0o600 });
    const { store, pairing } = await begin('ground-station', 60_000, 1);
    const asked: string[] = [];
    let device = DRONE;
    answer = (req, res) => {
      asked.push(`${req.method} ${req.url}`);
      json(200, { device_id: device, name: 'x' })(req, res);
    };
    const refused: unknown = await pairing
      .pair({ host: host(), code: 'ABCDEF' })
      .catch((error: unknown) => error);
    expect(refused).to.include({ code: 'E_PAIRED', status: 409 });
    expect(refused)
      .to.have.property('message')
      .that.matches(/one link.*0000000000d7.*svc radio unpair.*managed/);
    expect([asked, store.list().length, changes]).to.deep.equal([
      ['GET /api/tls', 'GET /api/pairing/info'],
      1,
      0,
    ]);
    // The one that is bound may be bound again, and gets the slot that has the link.
    device = '0000000000d7';
    answer = (req, res) => {
      if (req.method === 'GET') return json(200, { device_id: device, name: 'x' })(req, res);
      let text = '';
      req.on('data', (chunk: Buffer) => (text += chunk.toString()));
      return req.on('end', () => {
        const half = JSON.parse(text) as { readonly public_key: string; readonly slot: number };
        const { secret, publicKey } = makeRadioKeys();
        const { fingerprint } = agree(secret, Buffer.from(half.public_key, 'hex'));
        json(200, { device_id: device, public_key: publicKey.toString('hex'), fingerprint })(req, res);
      });
    };
    await pairing.pair({ host: host(), key: 'svc_12345678' });
    expect(store.list().map(({ device_id: id, slot }) => [id, slot])).to.deep.equal([[device, 0]]);
    await pairing.stop();
  });
  it('a new key that carries no data gives way to the older one, at both ends alike', async () => {
    const before = boundPair();
    await writeFile(file(), JSON.stringify({ version: 1, pairs: [before.atDrone] }), { mode: 0o600 });
    const { store, pairing } = await begin('drone', 50);
    const changed = new Promise<void>((resolve) => {
      store.onChange(() => store.list()[0]?.fingerprint === before.atDrone.fingerprint && resolve());
    });
    const peer = makeRadioKeys();
    await pairing.pair({ ground_id: GROUND, public_key: peer.publicKey.toString('hex') });
    expect(store.list()[0]?.proved).to.equal(false);
    await changed;
    expect(store.list()[0]).to.include({ fingerprint: before.atDrone.fingerprint, proved: true });
    await pairing.stop();
    const key = await readFile(join(dir, 'keys', 'slot-0.key'), 'hex');
    expect(key.slice(0, 64)).to.equal(before.atDrone.own_secret);
    expect(changes).to.equal(2);
  });
  it('a process killed while a key is on trial goes on with the trial, and repairs the key files', async () => {
    const before = boundPair();
    const after = boundPair();
    const trial = { ...after.atDrone, proved: false, previous: { ...before.atDrone, previous: undefined } };
    await writeFile(file(), JSON.stringify({ version: 1, pairs: [trial] }), { mode: 0o600 });
    const { store, pairing } = await begin('drone', 50);
    expect(await readFile(join(dir, 'keys', 'slot-0.key'), 'hex')).to.include(after.atDrone.own_secret);
    await new Promise<void>((resolve) => {
      store.onChange(() => resolve());
    });
    expect(store.list()[0]?.fingerprint).to.equal(before.atDrone.fingerprint);
    await pairing.stop();
  });
  it('a list that is torn binds nothing, is not overwritten, and says so', async () => {
    for (const text of ['{"version":1,"pairs":[{', '{"version":2}', '{"version":1,"pairs":[{"slot":0}]}']) {
      await writeFile(file(), text, { mode: 0o600 });
      const { store, pairing } = await begin('drone');
      expect(store.list()).to.deep.equal([]);
      const half = { ground_id: GROUND, public_key: makeRadioKeys().publicKey.toString('hex') };
      expect(await codeOf(pairing.pair(half))).to.equal('E_STORE');
      expect(await readFile(file(), 'utf8')).to.equal(text);
      await pairing.stop();
    }
  });
});
