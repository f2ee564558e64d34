import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { RELAY_CALLER_HEADER, stateCaller, statedCaller } from '../../front/control/edge/relay.ts';
import type { Principal } from '../../shared/auth/principal.ts';
import { PROGRAMS_FILE } from '../../shared/paths.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, DRONE, GROUND, throughRelay } from '../support/radios.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const GROUND_KEY = 'svc_ground789abcdef0123456789abcdef0123456789a';
const PIN = '8642';
const AS_KEY = { [RELAY_CALLER_HEADER]: 'key pairing-key *' };

describe("a ground station's statement about its caller", () => {
  const principals: readonly Principal[] = [
    { kind: 'key', id: 'pairing-key', scopes: null },
    { kind: 'session', id: 'session:ab cd', scopes: null },
    { kind: 'token', id: 'mct_0123', scopes: ['read', 'flight'] },
    { kind: 'ticket', id: 'ticket of mct_0123', scopes: ['read'] },
  ];
  it('arrives as it was said', () => {
    for (const principal of principals) {
      const { kind, id, scopes } = principal;
      expect(statedCaller('gs-1', stateCaller(principal))).to.deep.equal({
        kind: 'relay',
        id: `relay:gs-1/${id}`,
        scopes,
        stated: kind,
      });
    }
  });
  it('is nobody where it is not one whole statement', () => {
    for (const words of [
      null,
      '',
      'key',
      'key pairing-key',
      'key pairing-key * x',
      'KEY pairing-key *',
      'root pairing-key *',
      'anonymous anonymous *',
      'relay other *',
      'token mct_1 *',
      'token mct_1 ',
      'token mct_1 everything',
      'token mct_1 read+root',
      'key %zz *',
    ])
      expect(statedCaller('gs-1', words), String(words)).to.equal(null);
  });
});

describe('the relay between a ground station and its drone', () => {
  const pair = boundPair();
  let drone: TestNode;
  let ground: TestNode;
  let port: number;
  let session: string;

  before(async () => {
    port = await freePort();
    const config = `radio:\n  relay_port: ${port}\n  tunnel:\n    drone: 127.0.0.2\nmcp:\n  token_accept_enabled: true\n`;
    [drone, ground] = await Promise.all([
      TestNode.start({ pairing: { key: KEY }, config, prepare: bindTo(DRONE, pair.atDrone) }),
      TestNode.start({
        pairing: { key: GROUND_KEY },
        simulated: false,
        config: `${config}agent:\n  profile: ground-station\nvideo:\n  source: none\n`,
        prepare: bindTo(GROUND, pair.atGround),
      }),
    ]);
    await ground.post('/api/dashboard/pin/set', { pin: PIN }, withKey);
    session = String((await ground.post('/api/dashboard/pin/verify', { pin: PIN })).body['session']);
  });
  after(async () => {
    await Promise.all([drone.stop(), ground.stop()]);
  });

  const withKey = { 'x-svc-key': GROUND_KEY };
  const relayed = (path: string): string => `/api/v1/ground-station/relay-proxy/${DRONE}${path}`;
  const mint = async (node: TestNode, key: string, scopes: readonly string[]): Promise<string> =>
    String((await node.post('/api/mcp/tokens', { scopes }, { 'x-svc-key': key })).body['token']);

  describe("on the drone's listener", () => {
    const ask = async (method: string, path: string, headers = {}, body: string | null = null) =>
      throughRelay({ port, secret: pair.secret }, method, path, headers, body);

    it('a wrong key, an unknown ground station, plain HTTP and a listener elsewhere get no connection', async () => {
      const fails = async (secret: Buffer, identity: string, host = '127.0.0.2') =>
        throughRelay({ host, port, secret, identity }, 'GET', '/api/ping', AS_KEY).then(
          () => 'an answer',
          (error: NodeJS.ErrnoException) => error.code,
        );
      expect(await fails(Buffer.alloc(32, 1), GROUND)).to.be.oneOf(['EPROTO', 'ECONNRESET']);
      expect(await fails(pair.secret, 'somebody')).to.be.oneOf(['EPROTO', 'ECONNRESET']);
      expect(await fails(pair.secret, GROUND, '127.0.0.1')).to.equal('ECONNREFUSED');
      const plain = connect(port, '127.0.0.2');
      let answer = '';
      plain.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
      plain.write('GET /api/ping HTTP/1.1\r\nhost: x\r\n\r\n');
      await once(plain, 'close').catch(() => undefined);
      expect(answer).to.not.include('HTTP/1.1 200');
    });
    it('the caller counts who is stated, and nobody else: no key, no session, no token of the drone itself', async () => {
      expect((await ask('GET', '/api/status', AS_KEY)).status).to.equal(200);
      expect((await ask('GET', '/api/status')).status).to.equal(401);
      expect((await ask('GET', '/api/status', { 'x-svc-key': KEY })).status).to.equal(401);
      const token = await mint(drone, KEY, ['read']);
      expect((await ask('GET', '/api/status', { 'x-svc-mcp-token': token })).status).to.equal(401);
    });
    it('B12 what arrives there is relayed, also without the mark: forbidden rows stay forbidden', async () => {
      for (const headers of [AS_KEY, { ...AS_KEY, 'x-svc-relayed': '1' }])
        expect(
          (await ask('POST', '/api/pairing/unpair', headers, '{"force":true}')).body, // E5
        ).to.include({ code: 'E_RELAY_FORBIDDEN' });
    });
    it('nobody gets a dashboard session for a key through it', async () => {
      const signIn = async (headers: object) => ask('POST', '/api/dashboard/pin/verify', headers, '{}');
      expect((await signIn(AS_KEY)).body).to.include({ code: 'E_INVALID_VALUE' });
      expect((await signIn({ ...AS_KEY, 'x-svc-key': KEY })).body).to.include({ code: 'E_UNAUTHENTICATED' });
    });
    it('E3 the pairing claim is refused through it', async () => {
      expect((await ask('POST', '/api/pairing/claim', AS_KEY, '{"user_id":"x"}')).body).to.include({
        code: 'E_RELAY_FORBIDDEN',
      });
    });
    it('stated scopes are the scopes; a keyonly row needs a stated key', async () => {
      const reads = { [RELAY_CALLER_HEADER]: 'token mct_1 read' };
      expect((await ask('GET', '/api/status', reads)).status).to.equal(200);
      expect((await ask('POST', '/api/command', reads, '{"cmd":"land"}')).body).to.include({
        code: 'E_SCOPE',
      });
      const write = JSON.stringify({ key: 'mavlink.endpoints', value: [] });
      const put = async (who: string) =>
        (await ask('PUT', '/api/config', { [RELAY_CALLER_HEADER]: who }, write)).body['code'];
      expect(await put('session s1 *')).to.equal('E_SCOPE');
      expect(await put('gate unpaired%3Ahotspot *')).to.equal('E_SCOPE');
      expect(await put('token mct_1 admin')).to.equal('E_SCOPE');
    });
    it('the statement means nothing on the other listeners', async () => {
      expect((await drone.json('/api/status', { headers: AS_KEY })).status).to.equal(401);
    });
  });

  it('who shows a certificate that this machine trusts does not pass for the drone', async () => {
    const folder = await tempDir();
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const names = ['-subj', '/CN=drone', '-addext', 'subjectAltName=IP:127.0.0.9,DNS:drone'];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert, ...names],
      { stdio: 'ignore' },
    );
    const asked: string[] = [];
    const impostor = createServer(
      { key: await readFile(key), cert: await readFile(cert), minVersion: 'TLSv1.3' },
      (req, res) => {
        asked.push(req.url ?? '');
        res.end('{}');
      },
    ).listen(port, '127.0.0.9');
    await once(impostor, 'listening');
    const deceived = await TestNode.start({
      pairing: { key: GROUND_KEY },
      simulated: false,
      config: `radio:\n  relay_port: ${port}\n  tunnel:\n    drone: 127.0.0.9\nagent:\n  profile: ground-station\n`,
      env: { NODE_EXTRA_CA_CERTS: cert },
      prepare: bindTo(GROUND, pair.atGround),
    });
    try {
      const { status } = await deceived.json(relayed('/api/status'), { headers: withKey });
      expect([status, asked]).to.deep.equal([503, []]);
    } finally {
      await deceived.stop();
      impostor.close();
      await removeDir(folder);
    }
  });

  describe("through the ground station's proxy", () => {
    it('key, session and token reach the drone, each with its own rights, and the drone writes down both names', async () => {
      const token = await mint(ground, GROUND_KEY, ['read']);
      for (const headers of [
        withKey,
        { 'x-svc-dashboard-session': session },
        { 'x-svc-mcp-token': token },
      ] as Record<string, string>[]) {
        const { status, body } = await ground.json(relayed('/api/pairing/info'), { headers });
        expect([status, body['device_id']], JSON.stringify(body)).to.deep.equal([200, DRONE]);
      }
      expect((await ground.json(relayed('/api/status'))).status).to.equal(401);
      const armed = await ground.post(relayed('/api/command'), { cmd: 'arm' }, { 'x-svc-mcp-token': token });
      expect(armed.body).to.include({ code: 'E_SCOPE', required: 'flight' });
      const flier = { 'x-svc-mcp-token': await mint(ground, GROUND_KEY, ['read', 'flight']) };
      for (const [path, body] of [
        ['/api/params/RTL_ALT', { value: 0 }],
        ['/api/services/svc-link/restart', {}],
      ] as const)
        expect((await ground.post(relayed(path), body, flier)).body, path).to.include({
          code: 'E_SCOPE',
          required: 'admin',
        });
      const landed = await ground.post(relayed('/api/command'), { cmd: 'land' }, withKey);
      expect(landed.status, JSON.stringify(landed.body)).to.equal(200);
      const audit = await readFile(join(drone.paths.auditDir, PROGRAMS_FILE), 'utf8');
      expect(audit).to.include(`relay:${GROUND}/pairing-key`);
    });
    it("the drone's answers arrive unchanged: a forbidden row, an unknown path, a bad value", async () => {
      const forbidden = await ground.post(relayed('/api/pairing/unpair'), { force: true }, withKey);
      expect([forbidden.status, forbidden.body['code']]).to.deep.equal([403, 'E_RELAY_FORBIDDEN']);
      const unknown = await ground.json(relayed('/api/nope'), { headers: withKey });
      expect(unknown.status).to.equal(404);
      const bad = await ground.post(relayed('/api/command'), { cmd: 'dance' }, withKey);
      expect([bad.status, bad.body['code']]).to.deep.equal([400, 'E_BAD_REQUEST']);
    });
    it('it is what the drone itself would say, with its headers: a picture, an extension, a document', async () => {
      for (const path of [
        '/api/video/snapshot',
        '/api/plugins/com.example.none/x/a',
        '/api/params/NOPE_NOPE',
        '/api/config/schema',
        '/api/v1/ground-station/status',
      ]) {
        const [own, through] = await Promise.all([
          fetch(`${drone.url}${path}`, { headers: { 'x-svc-key': KEY } }),
          fetch(`${ground.url}${relayed(path)}`, { headers: withKey }),
        ]);
        expect([through.status, await through.text()], path).to.deep.equal([own.status, await own.text()]);
        for (const name of ['content-type', 'cache-control', 'x-content-type-options'])
          expect(through.headers.get(name), `${path} ${name}`).to.equal(own.headers.get(name));
      }
    });
    it('a session does not reach what only a key may do', async () => {
      const headers = { 'x-svc-dashboard-session': session };
      const { status } = await ground.post(relayed('/api/dashboard/pin/clear'), {}, headers);
      expect(status).to.be.oneOf([401, 403]);
    });
    it('telemetry comes as a WebSocket, by key and by the ticket of this drone only', async () => {
      const open = async (headers: Record<string, string>, protocols: string[] = []) => {
        const socket = new WebSocket(
          `ws://127.0.0.1:${ground.port}${relayed('/api/telemetry/ws')}`,
          protocols,
          {
            headers,
          },
        );
        const failed = new Promise<string>((resolve) => {
          socket.once('unexpected-response', (_req, res) => resolve(String(res.statusCode)));
          socket.once('error', (error) => resolve(error.message));
        });
        const message = await Promise.race([once(socket, 'message').then(([data]) => String(data)), failed]);
        socket.terminate();
        return message;
      };
      expect(JSON.parse(await open(withKey))).to.be.an('object');
      const ticket = async (scope: string) =>
        String((await ground.post('/api/_ws/ticket', { scope }, withKey)).body['ticket']);
      expect(JSON.parse(await open({}, ['svc-ws-ticket', await ticket(`relay:${DRONE}`)]))).to.be.an(
        'object',
      );
      expect(await open({}, ['svc-ws-ticket', await ticket('relay:other')])).to.equal('401');
      expect(await open({})).to.equal('401');
    });
    it('bodies stream both ways: a picture, an export of the log', async () => {
      const get = async (path: string) => fetch(`${ground.url}${relayed(path)}`, { headers: withKey });
      const log = await get('/api/logs/export?service=svc-control');
      expect([log.status, log.headers.get('content-type')]).to.deep.equal([200, 'application/x-ndjson']);
      const info = await get('/openapi.json');
      expect(((await info.json()) as { openapi: string }).openapi).to.match(/^3\.1/);
    });
    it('B8 a body that is cut off in the middle spoils nothing for the next caller', async () => {
      for (let round = 0; round < 5; round++) {
        const socket = connect(ground.port, '127.0.0.1');
        socket.on('error', () => undefined);
        socket.write(
          `POST ${relayed('/api/plugins/install')} HTTP/1.1\r\nhost: x\r\nx-svc-key: ${GROUND_KEY}\r\n` +
            'content-type: multipart/form-data; boundary=x\r\ncontent-length: 1000\r\n\r\n--x\r\n',
        );
        await new Promise<void>((resolve) => socket.once('ready', () => setImmediate(resolve)));
        socket.destroy();
        const { status, body } = await ground.json(relayed('/api/pairing/info'), { headers: withKey });
        expect([status, body['device_id']]).to.deep.equal([200, DRONE]);
      }
    });
    it('the pilot in command alone flies the drone through it; what ends a flight is everybody’s', async () => {
      const pic = '/api/v1/ground-station/pic';
      const watcher = new WebSocket(`ws://127.0.0.1:${ground.port}${relayed('/api/mavlink/ws')}`, {
        headers: withKey,
      });
      await once(watcher, 'message');
      const closed = once(watcher, 'close');
      expect((await ground.post(`${pic}/claim`, { client_id: 'tablet' }, withKey)).status).to.equal(200);
      await closed; // it could send to the vehicle, and is not the pilot's
      const command = async (cmd: string, headers: Record<string, string> = {}) =>
        ground.post(
          relayed('/api/command'),
          { cmd, args: cmd === 'mode' ? ['GUIDED'] : [] },
          { ...withKey, ...headers },
        );
      for (const name of [{}, { 'x-svc-client-id': 'phone' }]) {
        expect((await command('mode', name)).body).to.include({ code: 'E_NOT_PIC', claimed_by: 'tablet' });
        expect((await command('land', name)).status).to.equal(200);
      }
      expect((await command('mode', { 'x-svc-client-id': 'tablet' })).body['status']).to.equal('accepted');
      expect((await ground.post(`${pic}/release`, { client_id: 'tablet' }, withKey)).status).to.equal(200);
      expect((await command('mode')).body['status']).to.equal('accepted');
    });
    it('a drone that is not bound is not found; a key that no longer holds ends at once', async () => {
      const { status, body } = await ground.json('/api/v1/ground-station/relay-proxy/nobody/api/status', {
        headers: withKey,
      });
      expect([status, body['code']]).to.deep.equal([404, 'E_NOT_FOUND']);
    });
    it('says within 2 s that the drone does not answer, and why', async () => {
      process.kill(drone.pid('svc-control'), 'SIGSTOP');
      try {
        const at = performance.now();
        const { status, body } = await ground.json(relayed('/api/status'), { headers: withKey });
        expect([status, body['code']]).to.deep.equal([504, 'E_TIMEOUT']);
        expect(body['detail']).to.match(/did not answer within 2 s through the radio.*Its last answer/);
        expect(performance.now() - at).to.be.below(15_000);
      } finally {
        process.kill(drone.pid('svc-control'), 'SIGCONT');
      }
    });
  });
});
