import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { expect } from 'chai';
import fc from 'fast-check';
import { systemClock } from '../../front/link/clock.ts';
import { Corrections } from '../../front/link/corrections/corrections.ts';
import { ggaOf, type KnownPlace } from '../../front/link/corrections/gga.ts';
import { ntrip } from '../../front/link/corrections/ntrip.ts';
import { secureConnect } from '../../front/link/corrections/secure.ts';
import { nearest } from '../../front/link/corrections/source-table.ts';
import type { OpenStream } from '../../front/link/corrections/stream.ts';
import { type Authority, issueCertificate, newAuthority } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import type { Mountpoint } from '../../shared/rpc/link-answers.ts';
import { VERSION } from '../../shared/version.ts';
import { freePort } from '../support/temp.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { SILENT_LOG } from './rig.ts';
import { framer, rtcm } from './rtcm-samples.ts';

interface Met {
  readonly request: string;
  readonly socket: Socket;
}

/** A caster that answers as it is told. */
class SmallCaster implements AsyncDisposable {
  readonly met: Met[] = [];
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(answer: (met: Met, count: number) => void): Promise<SmallCaster> {
    const server = createServer((socket) => {
      let request = '';
      socket.on('error', () => undefined); // the node closes what it does not like
      const onData = (chunk: Buffer): void => {
        request += chunk.toString('latin1');
        if (!request.includes('\r\n\r\n')) return;
        socket.off('data', onData);
        const met = { request, socket };
        answer(met, caster.met.push(met));
      };
      socket.on('data', onData);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const caster = new SmallCaster(
      server,
      typeof address === 'object' && address !== null ? address.port : 0,
    );
    return caster;
  }

  get requests(): readonly string[] {
    return this.met.map(({ request }) => request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.met) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

const ACCOUNT = { mountpoint: 'BASE', username: 'pilot', password: 'geheim' } as const;

type NtripOptions = Partial<Parameters<typeof ntrip>[0]>;

function ntripTo(port: number, options: NtripOptions = {}): OpenStream {
  const usual = { version: 'auto', clock: systemClock(), connect, opened: 'connect' } as const;
  return ntrip({ host: '127.0.0.1', port, ...ACCOUNT, ...usual, ...options });
}

interface Listened {
  readonly opened: number;
  readonly data: Buffer;
  readonly problem: string | null;
  readonly mountpoints?: readonly Mountpoint[] | undefined;
}

/** One attempt: what it got until it ended, or until `size` bytes were there. */
async function hear(open: OpenStream, size = Infinity): Promise<Listened> {
  let opened = 0;
  let data = Buffer.alloc(0);
  return new Promise((resolve) => {
    const stream = open({
      onOpen: () => opened++,
      onData: (chunk) => {
        data = Buffer.concat([data, chunk]);
        if (data.length < size) return;
        stream.close();
        resolve({ opened, data, problem: null });
      },
      onEnd: (problem, mountpoints) => resolve({ opened, data, problem, mountpoints }),
    });
  });
}

const listenTo = async (port: number, options: NtripOptions = {}, size?: number): Promise<Listened> =>
  hear(ntripTo(port, options), size);

const FRAMES = Buffer.concat([rtcm(1005, 19), rtcm(1077, 700)]);
const chunkOf = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}; note=1\r\n`), bytes, Buffer.from('\r\n')]);
const HTTP_OK = 'HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nContent-Type: gnss/data\r\n';

describe('NTRIP', () => {
  it('version 2 is asked first, with the login; chunks are taken apart however they are cut', async () => {
    await using caster = await SmallCaster.start(({ socket }) => {
      const bytes = Buffer.concat([
        Buffer.from(`${HTTP_OK}Transfer-Encoding: chunked\r\n\r\n`),
        chunkOf(FRAMES.subarray(0, 7)),
        chunkOf(FRAMES.subarray(7)),
      ]);
      const write = (at: number): void => {
        if (at < bytes.length) socket.write(bytes.subarray(at, at + 5), () => setImmediate(write, at + 5));
      };
      write(0);
    });
    const { opened, data } = await listenTo(caster.port, {}, FRAMES.length);
    expect(opened).to.equal(1);
    expect(data).to.deep.equal(FRAMES);
    expect(caster.requests).to.deep.equal([
      [
        'GET /BASE HTTP/1.1',
        `Host: 127.0.0.1:${caster.port}`,
        'Ntrip-Version: Ntrip/2.0',
        `User-Agent: NTRIP svc/${VERSION}`,
        'Authorization: Basic cGlsb3Q6Z2VoZWlt',
        'Connection: close',
        '\r\n',
      ].join('\r\n'),
    ]);
  });

  it('version 2 without chunks', async () => {
    await using caster = await SmallCaster.start(({ socket }) => {
      socket.write(Buffer.concat([Buffer.from(`${HTTP_OK}\r\n`), FRAMES]));
    });
    expect((await listenTo(caster.port, { version: 2 }, FRAMES.length)).data).to.deep.equal(FRAMES);
  });

  for (const [what, refusal] of [
    ['closes the connection', ''],
    ['answers 400', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['answers with a page', 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>'],
    ['answers in a language of its own', 'HELO\r\n'],
    [
      'announces chunks and sends none',
      `${HTTP_OK}Transfer-Encoding: chunked\r\n\r\n${'\u00d3\n'.repeat(200)}`,
    ],
  ] as const)
    it(`version 1 is asked where the caster ${what}`, async () => {
      await using caster = await SmallCaster.start(({ request, socket }) => {
        if (request.includes('HTTP/1.1')) socket.end(refusal);
        else socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n'), FRAMES]));
      });
      const { data, opened } = await listenTo(caster.port, {}, FRAMES.length);
      expect(opened).to.equal(refusal.includes('chunked') ? 2 : 1);
      expect(data).to.deep.equal(FRAMES);
      expect(caster.requests[1]).to.equal(
        `GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP svc/${VERSION}\r\nAuthorization: Basic cGlsb3Q6Z2VoZWlt\r\n\r\n`,
      );
    });

  for (const [what, head] of [
    ['small letters', 'http/1.1 200 ok\r\ncontent-type: gnss/data\r\n\r\n'],
    ['an interim answer before it', `HTTP/1.1 100 Continue\r\n\r\n${HTTP_OK}\r\n`],
    ['an empty line before it', '\r\nICY 200 OK\r\n'],
    ['version 1 in small letters', 'icy 200 ok\r\n'],
  ] as const)
    it(`an answer with ${what}`, async () => {
      await using caster = await SmallCaster.start(({ socket }) => {
        const bytes = Buffer.concat([Buffer.from(head), FRAMES]);
        socket.write(bytes.subarray(0, 1), () => setImmediate(() => socket.write(bytes.subarray(1))));
      });
      const { data, opened } = await listenTo(caster.port, { version: 2 }, FRAMES.length);
      expect([opened, data]).to.deep.equal([1, FRAMES]);
      expect(caster.met).to.have.length(1);
    });

  it('a version that worked is the only one from then on', async () => {
    await using caster = await SmallCaster.start(({ request, socket }) => {
      if (request.includes('HTTP/1.1')) socket.end();
      else socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n'), FRAMES]));
    });
    const open = ntripTo(caster.port);
    await hear(open, FRAMES.length);
    await hear(open, FRAMES.length);
    const versions = caster.requests.map((request) => /HTTP\/(...)/.exec(request)?.[1]);
    expect(versions).to.deep.equal(['1.1', '1.0', '1.0']);
  });

  it('a caster that answers version 2 with ICY is one of version 1; header lines after that are no frames', async () => {
    await using caster = await SmallCaster.start(({ socket }) => {
      socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\nServer: x\r\n\r\n'), FRAMES]));
    });
    const seen = framer();
    const { data } = await listenTo(caster.port, {}, FRAMES.length + 13);
    seen.framer.push(data);
    expect(seen.types).to.deep.equal([1005, 1077]);
    expect(caster.met).to.have.length(1);
  });

  for (const [answer, problem] of [
    ['HTTP/1.1 401 Unauthorized\r\n\r\n', /refuses the login/],
    ['HTTP/1.0 401 Unauthorized\r\n', /refuses the login/], // RTKLIB, which then closes
    ['ERROR - Bad Password\r\n', /refuses the login/],
    ['SOURCETABLE 200 OK\r\nContent-Type: text/plain\r\n\r\nSTR;A\r\nENDSOURCETABLE\r\n', /has no BASE/],
    ['HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\nSTR;A\r\nENDSOURCETABLE', /has no BASE/],
  ] as const)
    it(`${JSON.stringify(answer)} is not asked again by another version`, async () => {
      await using caster = await SmallCaster.start(({ socket }) => socket.write(answer));
      expect((await listenTo(caster.port)).problem).to.match(problem);
      expect(caster.met).to.have.length(1);
    });

  const TABLE = [
    'CAS;caster.example;2101;x',
    'STR;FAR;Rome;RTCM 3.2;1005(1);2;GPS;x;ITA;41.9;12.5;0;0;x;none;B;N;0;',
    'STR;NEAR;Aachen \u001b[2J;RTCM 3.3;;2;GPS;x;DEU;50.8;6.1;1;1;x;none;B;N;0;',
    'STR;NOWHERE;;RTCM 3;;2;GPS;x;DEU;0.00;0.00;0;0;x;none;B;N;0;',
    'STR;no such name;x',
    'STR',
    'ENDSOURCETABLE',
  ].join('\r\n');
  for (const [what, answers] of [
    ['version 1', [`SOURCETABLE 200 OK\r\nContent-Type: text/plain\r\n\r\n${TABLE}`]],
    ['version 2', [`HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\n${TABLE}`]],
    [
      'version 2, in chunks',
      [
        `HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\nTransfer-Encoding: chunked\r\n\r\n${TABLE.length.toString(16)}\r\n${TABLE}\r\n0\r\n\r\n`,
      ],
    ],
    [
      'a caster that answers 404 and is asked for its table',
      ['HTTP/1.1 404 Not Found\r\n\r\n', `HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\n${TABLE}`],
    ],
    [
      'one that ends in the middle of a line',
      [`SOURCETABLE 200 OK\r\n\r\n${TABLE.slice(0, -16)}\r\nSTR;HAL`],
    ],
  ] as const)
    it(`the mountpoints of the caster: ${what}`, async () => {
      await using caster = await SmallCaster.start(({ socket }, count) =>
        socket.end(answers[count - 1] ?? ''),
      );
      const { problem, mountpoints } = await listenTo(caster.port);
      expect(problem).to.equal('The caster has no BASE. Choose one of its mountpoints.');
      expect(mountpoints?.map(({ name, lat }) => [name, lat])).to.deep.equal([
        ['FAR', 41.9],
        ['NEAR', 50.8],
        ['NOWHERE', null],
      ]);
      expect(caster.requests.map((request) => request.split(' ')[1])).to.deep.equal(
        ['/BASE', '/'].slice(0, answers.length),
      );
      const [near, far, nowhere] = nearest(mountpoints ?? [], { lat: 52.5, lon: 13.4 });
      expect(near).to.include({ name: 'NEAR', place: 'Aachen  [2J', wants_position: true });
      expect(near?.distance_km).to.be.within(520, 550);
      expect([far?.name, nowhere?.name, nowhere?.distance_km]).to.deep.equal(['FAR', 'NOWHERE', null]);
    });

  it('a table without end is cut off at a megabyte', async () => {
    await using caster = await SmallCaster.start(({ socket }) => {
      socket.write('SOURCETABLE 200 OK\r\n\r\n');
      const flood = (): void => {
        if (!socket.destroyed) socket.write('STR;A;x;RTCM 3\r\n'.repeat(4096), flood);
      };
      flood();
    });
    const { mountpoints } = await listenTo(caster.port);
    expect(mountpoints?.length).to.be.within(1, 20_000);
    expect(nearest(mountpoints ?? [], null)).to.have.length(200);
  });

  for (const [answer, problem] of [
    ['HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>', /web server, and no caster/],
    [`${HTTP_OK}Content-Encoding: gzip\r\n\r\n\u001f\u008b`, /compresses the stream/],
    ['\u001f\u008b\u0008\u0000\u0000', /no NTRIP caster/],
    [`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(2000)}`, /no NTRIP caster/],
    ['ICY 500 no\r\n', /refuses the stream/],
    ['HTTP/1.1 503 Busy\r\n\r\n', /refuses the stream \(503\)/],
    [`${HTTP_OK}Transfer-Encoding: gzip\r\n\r\n`, /in a way that is not known/],
  ] as const)
    it(`${JSON.stringify(answer.slice(0, 60))} is refused, in words`, async () => {
      await using caster = await SmallCaster.start(({ socket }) => socket.write(answer, 'latin1'));
      const { problem: said, opened } = await listenTo(caster.port);
      expect(said).to.match(problem);
      expect(opened).to.equal(0);
    });

  for (const [what, body, problem] of [
    ['no chunks at all', 'hello, this is no size\r\n', /what its own answer announced/],
    ['a size without an end', 'f'.repeat(5000), /what its own answer announced/],
    ['too much in a chunk', '1\r\nab\r\n', /what its own answer announced/],
    ['the last chunk', '0\r\n\r\n', /has ended the stream/],
  ] as const)
    it(`an answer that announces chunks and sends ${what} is over`, async () => {
      await using caster = await SmallCaster.start(({ socket }) =>
        socket.write(`${HTTP_OK}Transfer-Encoding: chunked\r\n\r\n${body}`),
      );
      expect((await listenTo(caster.port, { version: 2 })).problem).to.match(problem);
    });

  it('a redirect is not followed: the login goes to no other host', async () => {
    await using other = await SmallCaster.start(() => undefined);
    await using caster = await SmallCaster.start(({ socket }) =>
      socket.write(`HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${other.port}/BASE\r\n\r\n`),
    );
    expect((await listenTo(caster.port)).problem).to.match(/which is not followed/);
    expect([caster.met.length, other.met.length]).to.deep.equal([1, 0]);
  });

  it('a port that nobody listens on, and a caster that hangs up', async () => {
    const port = await freePort();
    expect((await listenTo(port)).problem).to.match(/is not reached: .*ECONNREFUSED/);
    await using caster = await SmallCaster.start(({ socket }) => socket.end(`${HTTP_OK}\r\n`));
    const { opened, problem } = await listenTo(caster.port);
    expect([opened, problem]).to.deep.equal([1, 'The caster has closed the connection.']);
  });

  it('a caster that sends as fast as it can is closed, and costs less than a megabyte', async () => {
    const clock = new FakeClock(); // so that it is not dialled again
    const chunk = Buffer.concat(Array.from({ length: 1000 }, () => FRAMES));
    const closed = Promise.withResolvers<void>();
    await using caster = await SmallCaster.start(({ socket }) => {
      const flood = (error?: Error | null): void => {
        if (error == null) socket.write(chunk, flood);
      };
      socket.on('close', () => closed.resolve());
      socket.write('ICY 200 OK\r\n');
      flood();
    });
    const corrections = new Corrections({
      clock,
      log: SILENT_LOG,
      random: Math.random,
      source: 'ntrip',
      mountpoint: 'BASE',
      open: ntripTo(caster.port, { clock }),
      place: () => null,
      lacksPlace: () => false,
      vehicle: { send: () => true, baud: () => null },
    });
    corrections.start();
    await closed.promise;
    const { state, bytes, problem } = corrections.state;
    expect([state, problem]).to.deep.equal([
      'failed',
      'The source sends more than 64 kB a second, which are no corrections.',
    ]);
    expect(bytes).to.be.below(1_000_000);
    corrections.stop();
  });

  it('a caster that says nothing is given up after 10 s', async () => {
    const clock = new FakeClock();
    await using caster = await SmallCaster.start(() => undefined);
    const ended = new Promise<string>((resolve) => {
      ntripTo(caster.port, { version: 2, clock })({
        onOpen: () => undefined,
        onData: () => undefined,
        onEnd: resolve,
      });
    });
    while (caster.met.length === 0) await settle();
    await clock.advance(10_000);
    expect(await ended).to.equal('The caster has not answered within 10 s.');
    expect(clock.pending).to.equal(0);
  });

  it('the place of the vehicle goes to a virtual station at once, and every 10 s, while it is known', async () => {
    const clock = new FakeClock();
    let place: KnownPlace | null = null;
    let said = '';
    await using caster = await SmallCaster.start(({ socket }) => {
      socket.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      socket.write(`${HTTP_OK}\r\n`);
    });
    let isOpen = false;
    const open = ntripTo(caster.port, { version: 2, clock, place: () => place });
    const events = { onOpen: () => (isOpen = true), onData: () => undefined, onEnd: () => undefined };
    const first = open(events);
    const until = async (done: () => boolean): Promise<void> => {
      while (!done()) await settle();
    };
    await until(() => isOpen);
    await clock.advance(3000);
    expect(said).to.equal('');
    expect(caster.requests[0]).to.not.include('GGA');
    place = { lat: -33.5, lon: 151.25, alt: 12.34, fixType: 6, satellites: 17, hdop: 0.72 };
    const gga =
      /^\$GPGGA,\d{6}\.\d\d,3330\.00000,S,15115\.00000,E,4,17,0\.7,12\.3,M,0\.0,M,,\*[0-9A-F]{2}\r\n$/;
    await clock.advance(1000);
    await until(() => said !== '');
    expect(said).to.match(gga);
    await clock.advance(9000);
    expect(said).to.match(gga);
    await clock.advance(1000);
    await until(() => said.split('\n').length > 2);
    first.close();
    expect(clock.pending).to.equal(0);
    isOpen = false;
    const second = open(events);
    await until(() => isOpen);
    expect(caster.requests[1]).to.match(/\r\nNtrip-GGA: \$GPGGA,.*\*[0-9A-F]{2}\r\n/);
    second.close();
  });

  describe('by TLS', () => {
    let authority: Authority;
    let server: TlsServer;
    let port = 0;
    let greetings = 0;

    before(async () => {
      authority = await newAuthority('test', Date.now());
      const key = newCertificateKey();
      const { pem } = await certificateRequest(key);
      const cert = await issueCertificate(
        authority,
        pem,
        { server: 'localhost', names: ['localhost'] },
        Date.now(),
      );
      server = createTlsServer({ key, cert }, (socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          greetings++;
          socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n'), FRAMES]));
        });
      });
      server.on('tlsClientError', () => undefined); // that is what is tried here
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      port = typeof address === 'object' && address !== null ? address.port : 0;
    });
    after(() => server.close());

    const secure = async (host: string, trusted?: readonly string[]) =>
      listenTo(port, { host, connect: secureConnect(trusted), opened: 'secureConnect' }, FRAMES.length);

    it('an authority that this machine trusts is believed', async () => {
      expect((await secure('localhost', [authority.certificate])).data).to.deep.equal(FRAMES);
    });

    it('any other is not, nor another name: the login is not sent', async () => {
      greetings = 0;
      expect((await secure('localhost')).problem).to.match(/is not reached: .*certificate/);
      expect((await secure('127.0.0.1', [authority.certificate])).problem).to.match(/is not reached: .*IP/);
      expect(greetings).to.equal(0);
    });
  });
});

describe('GGA', () => {
  const at = (lat: number, lon: number): string =>
    ggaOf({ lat, lon, alt: 0, fixType: 3, satellites: null, hdop: null }, Date.UTC(2026, 0, 2, 3, 4, 5, 670));

  it('has the checksum and the form of NMEA 0183', () => {
    expect(at(48.1173, 11.516666667)).to.equal(
      '$GPGGA,030405.67,4807.03800,N,01131.00000,E,1,00,1.0,0.0,M,0.0,M,,*5C\r\n',
    );
  });

  it('never has 60 minutes', () => {
    fc.assert(
      fc.property(fc.double({ min: -90, max: 90, noNaN: true }), (lat) => {
        const [, degrees = '', minutes = '', side] = /,(\d\d)(\d\d\.\d{5}),([NS]),/.exec(at(lat, 0)) ?? [];
        expect(Number(minutes)).to.be.below(60);
        const read = (Number(degrees) + Number(minutes) / 60) * (side === 'S' ? -1 : 1);
        expect(read).to.be.closeTo(lat, 1e-7);
      }),
    );
  });
});
