import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect } from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { messageOf } from '../../shared/errors.ts';
import { KEY } from '../support/edge.ts';
import { floodHandshakes } from '../support/handshake-flood.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { type Secured, secureAsk, securedBy, selfSigned } from '../support/secure.ts';
import { freePort } from '../support/temp.ts';
import { KEYED } from '../support/video-node.ts';

const run = promisify(execFile);
const NEAR = '10.93.6.1';

/** Runs in another host: connections that send the first bytes of a ClientHello, and nothing more. Says how many are open. */
const SLOW = `
const { connect } = require('node:net');
const [host, port] = process.argv.slice(1);
let open = 0;
const closed = () => { open--; };
for (let i = 0; i < 200; i++) {
  const socket = connect({ host, port: Number(port) });
  socket.on('connect', () => { open++; socket.write(Buffer.from([22, 3, 1, 2, 0, 1])); });
  socket.on('error', () => undefined);
  socket.on('close', closed);
}
setTimeout(() => console.log(open), 2000);
setInterval(() => undefined, 1000);
`;

/** Resolves when the connection has ended, by a reset too. */
async function closed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.on('close', resolve));
}

describe('bad and greedy clients of HTTPS', () => {
  let node: TestNode;
  let secured: Secured;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, tlsPort: await freePort() });
    secured = await securedBy(node);
  });
  after(async () => node.stop());

  const alive = async () => expect((await secureAsk(secured, '/healthz')).status).to.equal(200);
  /** What becomes of a handshake: the version, or why there is none. */
  const shake = async (options: ConnectionOptions): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', ...secured, ...options });
    try {
      await once(socket, 'secureConnect');
      return socket.getProtocol() ?? '';
    } catch (error) {
      return messageOf(error);
    } finally {
      socket.destroy();
    }
  };

  it('old TLS, and ciphers without forward secrecy or authentication, are refused', async () => {
    const old = 'DEFAULT:@SECLEVEL=0';
    for (const version of ['TLSv1', 'TLSv1.1'] as const)
      expect(await shake({ minVersion: version, maxVersion: version, ciphers: old }), version).to.match(
        /alert|version/i,
      );
    for (const ciphers of [
      'AES128-SHA',
      'AES128-GCM-SHA256',
      'ECDHE-ECDSA-AES128-SHA',
      'NULL-SHA256',
      'aNULL',
    ])
      expect(await shake({ maxVersion: 'TLSv1.2', ciphers: `${ciphers}:@SECLEVEL=0` }), ciphers).to.match(
        /handshake failure|no cipher/i,
      );
    expect(await shake({ maxVersion: 'TLSv1.2' })).to.equal('TLSv1.2');
    expect(await shake({})).to.equal('TLSv1.3');
    await alive();
  });

  it('a renegotiation ends the connection, or is refused', async () => {
    const socket = connect({ host: '127.0.0.1', ...secured, maxVersion: 'TLSv1.2' });
    await once(socket, 'secureConnect');
    const end = Promise.withResolvers<string>();
    socket.on('error', (error) => end.resolve(messageOf(error)));
    socket.on('close', () => end.resolve('closed'));
    socket.renegotiate({}, (error) => end.resolve(error === null ? 'renegotiated' : messageOf(error)));
    expect(await end.promise).to.not.equal('renegotiated');
    socket.destroy();
    await alive();
  });

  it('another name, and a certificate that nobody asked for, change nothing', async () => {
    const other = connect({
      host: '127.0.0.1',
      ...secured,
      servername: 'evil.example',
      checkServerIdentity: () => undefined,
    });
    await once(other, 'secureConnect');
    expect(other.getPeerCertificate().subject.CN).to.match(/^svc-/);
    other.destroy();
    const folder = node.base;
    const [cert, key] = [join(folder, 'c.pem'), join(folder, 'k.pem')];
    await selfSigned('admin', cert, key);
    await writeFile(join(folder, 'ca.crt'), secured.ca);
    const asked = await run('curl', [
      '-sS',
      '--cacert',
      join(folder, 'ca.crt'),
      '--cert',
      cert,
      '--key',
      key,
      `https://127.0.0.1:${secured.port}/api/status`,
    ]);
    expect(JSON.parse(asked.stdout)).to.include({ code: 'E_UNAUTHENTICATED' });
  });

  const junk: readonly (readonly [string, Buffer])[] = [
    ['HTTP in the clear', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['noise', Buffer.alloc(4096, 0xa5)],
    ['MAVLink', Buffer.from('fd09000000ff00000000000000000600080003', 'hex')],
    ['a record longer than any', Buffer.concat([Buffer.from([22, 3, 1, 0xff, 0xff]), Buffer.alloc(0xffff)])],
    [
      'a ClientHello that says 16 MB',
      Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]), Buffer.alloc(0x4000 - 4)]),
    ],
    ['an alert alone', Buffer.from([21, 3, 3, 0, 2, 2, 40])],
  ];
  for (const [what, bytes] of junk)
    it(`${what}: closed, and nothing is said in the clear`, async () => {
      const socket = connectTcp(secured.port, '127.0.0.1');
      socket.write(bytes);
      const got: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => got.push(chunk));
      await closed(socket);
      expect(Buffer.concat(got).toString('latin1')).to.not.contain('HTTP/');
      await alive();
    });

  describe('from another host', function () {
    this.timeout(120_000);
    let attacker: RemoteHost;
    let operator: RemoteHost;
    before(async function () {
      if (noNamespaces() !== null) this.skip();
      attacker = await RemoteHost.create(`${NEAR}/24`, '10.93.6.2/24');
      operator = await RemoteHost.create('10.93.7.1/24', '10.93.7.2/24');
      await writeFile(join(node.base, 'ca.crt'), secured.ca);
    });
    after(async () => {
      await attacker?.destroy();
      await operator?.destroy();
    });
    /** A new connection of somebody else. */
    const served = async (): Promise<string> => {
      const url = `https://10.93.7.1:${secured.port}/healthz`;
      const { stdout } = await run('ip', [
        ...operator.prefix.slice(1),
        'curl',
        '-sS',
        '-k',
        '--max-time',
        '20',
        url,
      ]);
      return stdout;
    };

    it('ten thousand handshakes of one address are a few, and others are served meanwhile', async () => {
      const agent = new Agent({ keepAlive: true, ca: secured.ca });
      const keyed = async (): Promise<number> => {
        const asked = request({
          host: '127.0.0.1',
          port: secured.port,
          path: '/api/status',
          headers: KEYED,
          agent,
        });
        asked.end();
        const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
        await text(answer);
        return answer.statusCode ?? 0;
      };
      expect(await keyed()).to.equal(200);
      let asked = 0;
      const { finished, seconds } = await floodHandshakes(attacker, secured.port, async () => {
        expect(await keyed()).to.equal(200);
        expect(await served()).to.contain('"ok"');
        asked++;
      });
      agent.destroy();
      expect(asked).to.be.above(1);
      expect(finished).to.be.within(1, 40 + 10 * seconds + 5);
    });

    it('handshakes that do not go on take twelve places, and are closed', async () => {
      const [program, ...args] = [
        ...attacker.prefix,
        process.execPath,
        '-e',
        SLOW,
        NEAR,
        String(secured.port),
      ];
      const slow = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const [open] = (await once(slow.stdout, 'data')) as [Buffer];
      expect(Number(open.toString())).to.be.within(0, 12);
      expect(await served()).to.contain('"ok"');
      slow.kill('SIGKILL');
    });
  });

  it('G1 headers that never come to their end are cut off after 10 s, as in the clear', async () => {
    const socket = connect({ host: '127.0.0.1', ...secured });
    await once(socket, 'secureConnect');
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const said = text(socket);
    const started = performance.now();
    await closed(socket);
    expect(performance.now() - started).to.be.within(8000, 20_000);
    expect(await said).to.match(/^HTTP\/1\.1 408 /);
  }).timeout(40_000);

  it('connections that are left in the middle keep nothing from stopping', async () => {
    const socket: Socket = connectTcp(secured.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(Buffer.from([22, 3, 1, 2, 0, 1]));
    const end = closed(socket);
    await node.killAndAwaitSuccessor('svc-control');
    await end;
    await alive();
  });
});
