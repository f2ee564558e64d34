import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { parseDocument } from 'yaml';
import { askAgain } from '../support/ask-again.ts';
import { EDGE_ATTACKS, type EdgeTarget } from '../support/edge-attacks.ts';
import { noHaproxy, startHaproxy } from '../support/haproxy.ts';
import { TestHub } from '../support/hub.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { rawBody, rawHttp } from '../support/raw-http.ts';
import { freePort } from '../support/temp.ts';

const ASSETS = join(import.meta.dirname, '../../residual/web/dist/assets');
/** An address of this machine that is a balancer to the hub. */
const BALANCER = '127.0.0.9';
const GREEDY = 300;
/** Of one address that has shown no credential. */
const PLACES = 64;

/** The largest file of the page. */
function largestFile(): string {
  const sizes = globSync('*.js', { cwd: ASSETS }).map(
    (name) => [statSync(join(ASSETS, name)).size, name] as const,
  );
  return `/assets/${sizes.toSorted(([a], [b]) => b - a)[0]?.[1]}`;
}

describe('the edge of a hub', function () {
  this.timeout(120_000);
  let hub: TestHub;
  let ca: string;
  const sockets: Socket[] = [];

  before(async function () {
    if (noMosquitto() !== null) return this.skip();
    hub = await TestHub.init();
    const file = join(hub.folder, 'hub.yaml');
    const config = parseDocument(await readFile(file, 'utf8'));
    for (const part of ['http', 'https']) config.setIn([part, 'balancers'], [BALANCER]);
    await writeFile(file, config.toString());
    await hub.serve();
    ca = await hub.text('ca.pem');
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(async () => hub?.stop());

  /** Resolves when the hub has ended the connection. */
  const ended = async (socket: Socket): Promise<void> => {
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  };
  const dial = (port: number, localAddress: string, ...pieces: readonly (string | Buffer)[]): Socket => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.on('error', () => undefined); // the hub may reset it
    for (const piece of pieces) socket.write(piece);
    sockets.push(socket);
    return socket;
  };
  /** Asks by HTTPS as somebody at that address, with a connection of its own. */
  const ask = async (
    localAddress: string,
    path: string,
    more: RequestOptions = {},
  ): Promise<{ readonly status: number; readonly body: string }> => {
    const sent = request({
      host: '127.0.0.1',
      port: hub.httpsPort,
      servername: 'localhost',
      ca,
      path,
      localAddress,
      agent: false,
      timeout: 5000,
      ...more,
    });
    sent.once('timeout', () => sent.destroy(new Error('nobody answers')));
    sent.end();
    const [answer] = await once(sent, 'response');
    return { status: answer.statusCode, body: await text(answer) };
  };
  const rss = async (): Promise<number> =>
    Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${hub.pid}/status`, 'utf8'))?.[1]) / 1024;
  /** TLS connections of one address that ask for something and read nothing. @returns those that were let in */
  const greedy = async (
    count: number,
    localAddress: string,
    bytes: string,
    port = hub.httpsPort,
  ): Promise<readonly Socket[]> => {
    const begun = Array.from({ length: count }, async () => {
      const below = dial(port, localAddress);
      const socket = connectTls({ socket: below, ca, servername: 'localhost' });
      socket.on('error', () => undefined); // as above
      socket.pause();
      sockets.push(socket);
      const isIn = await new Promise<boolean>((resolve) => {
        socket.once('secureConnect', () => resolve(true)).once('close', () => resolve(false));
      });
      if (isIn) socket.write(bytes);
      return isIn ? below : null;
    });
    return (await Promise.all(begun)).filter((socket) => socket !== null);
  };

  describe('refuses what a node refuses', () => {
    let target: EdgeTarget;
    before(() => {
      target = {
        get: '/v1/me',
        post: '/v1/credentials',
        credential: `Authorization: Bearer ${hub.operator}\r\n`,
        wrongCredential: 'Authorization: Bearer svc_no\r\n',
        maxBody: 1024 * 1024,
      };
    });
    for (const { name, bytes, status, code } of EDGE_ATTACKS)
      it(`A10 B5 B6 B14 G4 ${name} -> ${status} as JSON, hub alive`, async () => {
        const answer = await rawHttp(hub.port, bytes(target));
        expect(answer.status).to.equal(status);
        expect(rawBody(answer)).to.include({ code });
        expect(answer.text).to.not.include('100 Continue');
        expect((await hub.call('GET', '/v1/me')).status).to.equal(200);
      });

    it('Expect: 100-continue with a credential is asked for its body', async () => {
      const head = `POST ${target.post} HTTP/1.1\r\nHost: x\r\n${target.credential}Content-Type: application/json\r\n`;
      const answer = await rawHttp(hub.port, `${head}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}`);
      expect(answer.text).to.match(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 422 /);
    });
  });

  describe('a balancer by the PROXY protocol', () => {
    const GET = 'GET /v1/ca HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const from = (ip: string): string => `PROXY TCP4 ${ip} 127.0.0.1 1 443\r\n`;
    const answered = async (socket: Socket): Promise<string> => {
      let said = '';
      socket.on('data', (chunk: Buffer) => {
        said += chunk.toString('latin1');
      });
      await ended(socket);
      return said;
    };

    it('a connection of it without a header, or with a broken or a late one, is closed without a word', async () => {
      const all = [
        dial(hub.port, BALANCER, GET),
        dial(hub.port, BALANCER, 'PROXY TCP4 1.2.3 127.0.0.1 1 443\r\n', GET),
        dial(hub.port, BALANCER, 'PROXY TCP4 '),
        dial(hub.port, BALANCER),
        dial(hub.httpsPort, BALANCER, Buffer.from('160301', 'hex')),
      ];
      expect(await Promise.all(all.map(answered))).to.deep.equal(['', '', '', '', '']);
    });

    it('one with a header is answered, in the clear and by TLS, whole or in pieces', async () => {
      expect(await answered(dial(hub.port, BALANCER, from('192.0.2.1') + GET))).to.match(/^HTTP\/1\.1 200 /);
      const slow = dial(hub.port, BALANCER);
      for (const byte of from('192.0.2.1') + GET) await new Promise((resolve) => slow.write(byte, resolve));
      expect(await answered(slow)).to.match(/^HTTP\/1\.1 200 /);
      const below = dial(hub.httpsPort, BALANCER, from('192.0.2.1'));
      const socket = connectTls({ socket: below, ca, servername: 'localhost' });
      socket.write(GET);
      expect(await answered(socket)).to.match(/^HTTP\/1\.1 200 /);
    });

    it('the audit has who connected to it, and a forwarding header says nothing', async () => {
      const bad = `GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.1\r\nAuthorization: Bearer no\r\nConnection: close\r\n\r\n`;
      await answered(dial(hub.port, BALANCER, from('192.0.2.77') + bad));
      expect(await hub.text('audit/strangers.ndjson'))
        .to.include('"peer":"192.0.2.77"')
        .and.not.include('198.51.100.1');
    });

    it('G5 places are those of each address behind it, and of the balancer itself', async () => {
      const open = async (head: string): Promise<boolean> => {
        const socket = dial(hub.port, BALANCER, head, 'GET /v1/ca HTTP/1.1\r\nHost: x\r\n\r\n');
        return new Promise((resolve) => {
          socket.once('data', () => resolve(true)).once('close', () => resolve(false));
        });
      };
      const many = async (count: number, head: string): Promise<number> =>
        (await Promise.all(Array.from({ length: count }, async () => open(head)))).filter(Boolean).length;
      expect(await many(PLACES + 20, from('192.0.2.2'))).to.equal(PLACES);
      expect(await many(5, from('192.0.2.3'))).to.equal(5);
      expect(await many(5, 'PROXY UNKNOWN\r\n')).to.equal(5);
    });

    it('through HAProxy: a stranger takes none but his own places', async function () {
      if (noHaproxy() !== null) return this.skip();
      for (const word of ['send-proxy', 'send-proxy-v2']) {
        const port = await freePort();
        const balancer = await startHaproxy(
          join(hub.folder, 'haproxy.cfg'),
          `defaults
  mode tcp
  timeout connect 3s
  timeout client 60s
  timeout server 60s
listen hub
  bind 127.0.0.1:${port}
  source ${BALANCER}
  option httpchk GET /readyz
  default-server ${word} check-ssl ca-file ${join(hub.folder, 'ca.pem')} verify required verifyhost localhost inter 200ms rise 1
  server one 127.0.0.1:${hub.httpsPort} check
`,
          async () =>
            ask('127.0.0.3', '/readyz', { port }).then(
              ({ status }) => status === 200,
              () => false,
            ),
        );
        try {
          const most = await greedy(PLACES + 40, '127.0.0.2', 'GET /v1/ca HTTP/1.1\r\nHost: x\r\n\r\n', port);
          expect(most.length, word).to.be.at.most(PLACES);
          expect((await ask('127.0.0.3', '/readyz', { port })).status, word).to.equal(200);
          await ask('127.0.0.3', '/v1/me', { port, headers: { authorization: 'Bearer no' } });
          expect(await hub.text('audit/strangers.ndjson'), word).to.include('"peer":"127.0.0.3"');
        } finally {
          balancer.kill('SIGKILL');
          for (const socket of sockets.splice(0)) socket.destroy();
        }
      }
    });
  });

  describe('one stranger, who reads nothing and ends nothing', () => {
    it('G1 G2 G5 takes no place of others and little memory, and is ended', async () => {
      const before = await rss();
      const file = largestFile();
      const unread = await greedy(GREEDY, '127.0.0.2', `GET ${file} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(4));
      const headers = await greedy(GREEDY, '127.0.0.4', 'GET /v1/ca HTTP/1.1\r\nHost: x\r\nX-Slow: ');
      const body = await greedy(
        GREEDY,
        '127.0.0.5',
        'POST /v1/enroll HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{',
      );
      for (const let_in of [unread, headers, body]) expect(let_in.length).to.be.within(1, PLACES);
      const times: number[] = [];
      for (let i = 0; i < 20; i++) {
        const at = performance.now();
        expect((await ask('127.0.0.3', '/v1/ca')).status).to.equal(200);
        times.push(performance.now() - at);
      }
      expect(times.toSorted((a, b) => a - b)[10]).to.be.lessThan(250);
      expect((await rss()) - before, 'MB').to.be.lessThan(80);
      // Headers after 10 s, answers of which nothing is taken after 20 s (bodies after 30 s, which is Node's own clock too).
      const free = async (address: string): Promise<void> => {
        await askAgain(
          `${address} has places again`,
          async () =>
            ask(address, '/v1/ca').then(
              ({ status }) => status,
              (error: Error) => error.message,
            ),
          (status) => status === 200,
        );
      };
      await Promise.all(['127.0.0.2', '127.0.0.4'].map(free));
    });

    it('asks for files of the page, and is told to wait; others and who is known are not', async () => {
      const statuses = await Promise.all(
        Array.from({ length: 40 }, async () => {
          const socket = dial(hub.httpsPort, '127.0.0.6');
          const secure = connectTls({ socket, ca, servername: 'localhost' });
          secure.on('error', () => undefined); // as above
          secure.write(
            'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(7) +
              'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
          );
          return text(secure);
        }),
      );
      expect(statuses.join('')).to.include('HTTP/1.1 200 ').and.include('HTTP/1.1 429 ');
      expect((await ask('127.0.0.3', '/')).status).to.equal(200);
      const headers = { authorization: `Bearer ${hub.operator}` };
      expect((await ask('127.0.0.6', '/v1/me', { headers })).status).to.equal(200);
    });
  });

  it('connections that are reset before the hub looks at them do it no harm', async () => {
    process.kill(hub.pid, 'SIGSTOP');
    for (const port of [hub.port, hub.httpsPort])
      for (const address of ['127.0.0.7', BALANCER]) {
        const resets = Array.from({ length: 10 }, async () => {
          const socket = dial(port, address);
          await once(socket, 'connect'); // by the kernel
          socket.resetAndDestroy();
          await ended(socket);
        });
        await Promise.all(resets);
      }
    process.kill(hub.pid, 'SIGCONT');
    expect((await ask('127.0.0.3', '/v1/ca')).status).to.equal(200);
  });

  it('a balancer that is none: the hub does not start, and names it', async () => {
    const bad = await TestHub.init();
    try {
      const file = join(bad.folder, 'hub.yaml');
      const config = parseDocument(await readFile(file, 'utf8'));
      config.setIn(['https', 'balancers'], ['0.0.0.0/0']);
      await writeFile(file, config.toString());
      const said = await bad.serve().catch(String);
      expect(said).to.include('/https/balancers: 0.0.0.0/0 is no address and no network');
    } finally {
      await bad.stop();
    }
  });
});
