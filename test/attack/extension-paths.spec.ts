import { expect } from 'chai';
import { TestNode } from '../support/node.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { bindTo, boundPair, DRONE, GROUND } from '../support/radios.ts';
import { rawBody, rawHttp } from '../support/raw-http.ts';
import { freePort } from '../support/temp.ts';

const ID = 'org.example.echo';
const BASE = `/api/plugins/${ID}/x`;
const GROUND_KEY = 'svc_ground789abcdef0123456789abcdef0123456789a';
/** Answers with the target that it got. */
const ECHO = `
import { createServer } from 'node:http';
const server = createServer((req, res) => {
  res.setHeader('content-type', 'application/json');
  res.end(JSON.stringify({ target: req.url }));
});
server.on('upgrade', (req, socket) => socket.end('HTTP/1.1 403 Forbidden\\r\\n\\r\\n'));
server.listen(process.env.SVC_PLUGIN_HTTP_SOCKET);
process.on('SIGTERM', () => process.exit(0));
`;

/** After `/x`: these arrive as they were sent. */
const GOOD = [
  '/',
  '/?a=1',
  '/a%20b',
  '/static/',
  '/a%20b/c%C3%A4.txt?q=%2F..%2F',
  '/%41',
  '/%c3%a4',
  '/%E2%82%AC',
  '/%F0%9F%9A%81',
  '/%25',
  '/%252F',
  '/%252e%252e/',
  '/a%3Fb%23c%3Bd',
  '/%0D%0Aset-cookie:%20a'.replace(':', '%3A'),
  '/...',
  '/a..b/%2e%2e%2e',
  '/~%40user%2Bx',
  `/${'%20'.repeat(400)}`,
] as const;

/** After `/x`: two readers could take these for different paths. */
const BAD = [
  '//',
  '/a//b',
  '/a//',
  '/.',
  '/..',
  '/a/../b',
  '/a/..',
  '/../../config',
  '/%2e',
  '/%2E%2E',
  '/%2e%2e/config',
  '/.%2e/config',
  '/%2E./config',
  '/a/%2e%2E/',
  '/a%2Fb',
  '/a%2fb',
  '/..%2f..%2fconfig',
  '/a%5Cb',
  '/a%5cb',
  '/a\\b',
  '/a%00',
  '/%00/b',
  '/%C0%AF',
  '/%c0%ae%c0%ae/config',
  '/%E0%80%AF',
  '/%F0%80%80%AF',
  '/%ED%A0%80',
  '/%F4%90%80%80',
  '/%ff',
  '/%80',
  '/%C3',
  '/%',
  '/%2',
  '/%zz',
  '/a;b',
  '/a#b',
  '/a\u00e4',
  `/${'a/'.repeat(40)}`,
] as const;

describe('the paths of an extension', () => {
  const pair = boundPair();
  let drone: PluginNode;
  let ground: TestNode;

  before(async () => {
    const port = await freePort();
    const config = `radio:\n  relay_port: ${port}\n  tunnel:\n    drone: 127.0.0.2\n`;
    [drone, ground] = await Promise.all([
      PluginNode.start({ config, prepare: bindTo(DRONE, pair.atDrone) }),
      TestNode.start({
        pairing: { key: GROUND_KEY },
        simulated: false,
        config: `${config}agent:\n  profile: ground-station\nvideo:\n  source: none\n`,
        prepare: bindTo(GROUND, pair.atGround),
      }),
    ]);
    await drone.run({
      id: ID,
      agent: ['entrypoint: agent/main.mjs', 'runtime: node', 'http: true'],
      files: { 'agent/main.mjs': ECHO },
    });
    await drone.until(
      'it serves',
      async () => (await drone.call('GET', `${BASE}/a`)).status,
      (status) => status === 200,
    );
  });
  after(async () => Promise.all([drone.node.stop(), ground.stop()]));

  /** No client library mends the target. */
  const ask = async (door: 'node' | 'relay', target: string, method = 'GET', more = '') => {
    const near = door === 'node';
    const path = near ? target : `/api/v1/ground-station/relay-proxy/${DRONE}${target}`;
    const key = near ? PluginNode.headers['x-svc-key'] : GROUND_KEY;
    const answer = await rawHttp(
      near ? drone.node.port : ground.port,
      `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-svc-key: ${key}\r\n${more || 'connection: close\r\n'}\r\n`,
    );
    return { status: answer.status, text: answer.text, body: () => rawBody(answer) };
  };

  for (const door of ['node', 'relay'] as const) {
    it(`${door}: any encoded character and the root arrive as they were sent`, async () => {
      for (const path of GOOD) {
        for (const method of ['GET', 'POST', 'DELETE']) {
          const { status, body } = await ask(door, BASE + path, method);
          expect([status, body()], `${method} ${path}`).to.deep.equal([200, { target: path }]);
        }
      }
    });

    it(`${door}: what changes the path is refused in every spelling, before it gets there`, async () => {
      for (const path of BAD) {
        const { status, text } = await ask(door, BASE + path);
        expect(status, path).to.equal(400);
        // Node's own parser refuses what is no request line at all.
        if (!/[^!-~]/.test(path)) expect(text, path).to.include('E_BAD_PATH');
      }
    });

    it(`${door}: a WebSocket has the same paths`, async () => {
      const upgrade =
        'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
      // It got there: the extension itself refused it.
      for (const path of ['/', '/a%20b'])
        expect((await ask(door, BASE + path, 'GET', upgrade)).text, path).to.include('not serving HTTP');
      for (const path of ['/%2e%2e', '/a%2Fb'])
        expect((await ask(door, BASE + path, 'GET', upgrade)).status, path).to.equal(400);
    });

    it(`${door}: nothing but the extension has such paths`, async () => {
      for (const target of [
        `/api/plugins/${ID}/`,
        `/api/plugins/${ID}/gcs/a%20b`,
        `/api/plugins/${ID}/state/`,
        `/api/plugins/${ID}/%78/a`,
        '/api/config/',
        '/api/confi%67',
        '/assets/',
        '/assets/a%20b',
      ])
        expect((await ask(door, target)).status, target).to.equal(400);
    });
  }

  it('the relay’s own root is no path of the drone', async () => {
    expect((await ask('relay', '/')).status).to.equal(400);
    expect((await ask('relay', '')).status).to.equal(404);
  });
});
