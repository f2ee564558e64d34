import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rm,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { FleetOutbox } from '../../residual/app/fleet-outbox.ts';
import { KeptFiles } from '../../residual/app/kept-files.ts';
import { Ledger } from '../../residual/app/uploads/ledger.ts';
import { S3Store } from '../../residual/app/uploads/s3-store.ts';
import { UploadTeller } from '../../residual/app/uploads/upload-teller.ts';
import { Uploader } from '../../residual/app/uploads/uploader.ts';
import type { Config } from '../../shared/config/schema.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { askAgain } from '../support/ask-again.ts';
import { BUCKET, KEYS, noS3Server, S3Server } from '../support/s3-server.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const DEVICE = '0123456789ab';
const DAY_MS = 24 * 3600 * 1000;
const PART = 8 * 1024 * 1024;
const missing = noS3Server();

/** A card that is worn out in one place. */
class Card extends KeptFiles {
  override async open(name: string): ReturnType<KeptFiles['open']> {
    if (name.includes('bad')) throw new Error('EIO: i/o error, read');
    return super.open(name);
  }
}

type State = Awaited<ReturnType<Uploader['state']>>;

describe(`uploads${missing === null ? '' : ` (${missing})`}`, () => {
  let folder: string;
  let server: S3Server;
  let running: Uploader[];
  /** Of the vehicle, the uplink and the clock. */
  let world: { disarmed: boolean; metered: boolean | null; wall: () => number; now: () => number };

  let store: string | undefined;
  before(async function () {
    if (missing !== null) return this.skip();
    store = await tempDir();
    server = await S3Server.start(store);
  });
  after(async () => {
    await server?.kill();
    if (store !== undefined) await removeDir(store);
  });
  beforeEach(async () => {
    folder = await tempDir();
    await server.empty();
    running = [];
    world = { disarmed: true, metered: null, wall: Date.now, now: () => performance.now() };
  });
  afterEach(async () => {
    await Promise.all(running.map(async (each) => each.stop()));
    await removeDir(folder);
  });

  /** A file that was written an hour ago. */
  async function write(name: string, bytes: number | Buffer, kind = 'recordings'): Promise<Buffer> {
    const content = typeof bytes === 'number' ? randomBytes(bytes) : bytes;
    const path = join(folder, kind, name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, content);
    const before = new Date(Date.now() - 3_600_000);
    await utimes(path, before, before);
    return content;
  }

  function uploader(config: Partial<Config['upload']> = {}): Uploader {
    const whole: Config['upload'] = {
      endpoint: server.url,
      bucket: BUCKET,
      region: 'us-east-1',
      prefix: 'north/',
      ...KEYS,
      kinds: ['recordings', 'tlogs', 'flight-logs'],
      while_armed: false,
      on_metered: false,
      max_kbit_s: 0,
      keep_days: 0,
      ...config,
    };
    const {
      endpoint,
      bucket,
      region,
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
    } = whole;
    const wall = (): number => world.wall();
    const source = (kind: string, ending: string) => ({
      files: new Card(join(folder, kind), (name) => name.endsWith(ending), kind),
      writing: () => [`now${ending}`],
    });
    const log = createLogger('uploads', 'error');
    const made = new Uploader({
      config: whole,
      deviceId: async () => DEVICE,
      store: new S3Store(
        { endpoint, bucket, region, accessKeyId, secretAccessKey, nearHosts: ['127.0.0.1'] },
        wall,
      ),
      sources: {
        recordings: source('recordings', '.mp4'),
        tlogs: source('tlogs', '.tlog'),
        'flight-logs': source('flight-logs', '.log'),
      },
      ledger: new Ledger(join(folder, 'uploads.json'), log),
      teller: new UploadTeller(
        new FleetOutbox({ flights: join(folder, 'flights'), fleet: join(folder, 'fleet.json') }),
      ),
      isDisarmed: () => world.disarmed,
      isMetered: async () => world.metered,
      wall,
      now: () => world.now(),
      log,
    });
    running.push(made);
    return made;
  }

  async function begun(config: Partial<Config['upload']> = {}): Promise<Uploader> {
    const made = uploader(config);
    await made.start();
    return made;
  }

  /** It may look again at once, as after its half minute. */
  async function until(made: Uploader, what: string, fits: (state: State) => boolean): Promise<State> {
    return askAgain(
      what,
      async () => {
        made.look();
        return made.state();
      },
      fits,
    );
  }

  const done = ({ waiting_files: left, uploads }: State): boolean => left === 0 && uploads.length > 0;

  it('puts each file there, with its bytes, whatever it is called; not those that are being written', async () => {
    const small = await write('20261127T101112Z a+b ü.mp4', 5000);
    const large = await write('20261127T101113Z.mp4', 2 * PART + 12_345);
    const tlog = await write('20261127T101112.000Z.tlog', 1000, 'tlogs');
    await write('now.tlog', 1000, 'tlogs');
    await write('empty.mp4', 0);
    const made = await begun();
    const { uploads, problem } = await until(made, 'uploaded', done);
    expect(problem).to.equal(null);
    expect(uploads.map(({ kind, state }) => `${kind} ${state}`).toSorted()).to.deep.equal([
      'recordings uploaded',
      'recordings uploaded',
      'tlogs uploaded',
    ]);
    const key = (name: string): string => `north/${DEVICE}/${name}`;
    expect((await server.object(key('recordings/20261127T101112Z a+b ü.mp4'))).equals(small)).to.equal(true);
    expect((await server.object(key('recordings/20261127T101113Z.mp4'))).equals(large)).to.equal(true);
    expect((await server.object(key('tlogs/20261127T101112.000Z.tlog'))).equals(tlog)).to.equal(true);
    expect(server.answered('UploadPart')).to.equal(3);
  });

  it('goes on with what the store has, after a store and a node that were killed in the middle', async () => {
    const content = await write('long.mp4', 4 * PART);
    const first = await begun({ max_kbit_s: 400_000 });
    await until(first, 'a part is there', ({ uploads }) => (uploads[0]?.sent_bytes ?? 0) >= PART);
    await server.kill();
    const { waiting_for: waits, problem } = await until(first, 'it fails', (state) => state.problem !== null);
    expect(waits).to.equal('store');
    expect(problem).to.match(/127\.0\.0\.1:\d+ cannot be reached/);
    await first.stop();
    const before = server.answered('UploadPart');
    expect(before).to.be.within(1, 3);

    await server.run();
    const second = await begun();
    await until(second, 'uploaded', done);
    expect((await server.object(`north/${DEVICE}/recordings/long.mp4`)).equals(content)).to.equal(true);
    expect(server.answered('CreateMultipartUpload')).to.equal(1);
    expect(server.answered('UploadPart')).to.equal(4);
  });

  it('tells the fleet where each file is, once; nobody where the node is in none, and later where it cannot', async () => {
    const told = async (): Promise<readonly Record<string, unknown>[]> => {
      const names = await readdir(join(folder, 'flights')).catch(() => []);
      return Promise.all(
        names
          .filter((name) => /^upload-[0-9a-f]{32}\.json$/.test(name))
          .map(
            async (name) =>
              JSON.parse(await readFile(join(folder, 'flights', name), 'utf8')) as Record<string, unknown>,
          ),
      );
    };
    await write('before.mp4', 1000);
    const made = await begun();
    await until(made, 'uploaded', done);
    const ledger = async (): Promise<string> =>
      readFile(join(folder, 'uploads.json'), 'utf8').catch(() => '');
    await askAgain('nobody is to be told', ledger, (text) => text.includes('"told":true'));
    await writeFile(join(folder, 'fleet.json'), '{}');
    await mkdir(join(folder, 'flights'), { recursive: true });
    for (let n = 0; n < 256; n++) await writeFile(join(folder, 'flights', `${n}.json`), '{}');
    await write('a ü.mp4', 1000);
    await write('4d2_7_1000_1700000000.log', 1000, 'flight-logs');
    await write('4d2_8_1000_0.log', 1000, 'flight-logs');
    await until(made, 'uploaded', done);
    expect(await told(), 'there is no room').to.deep.equal([]);
    for (let n = 0; n < 256; n++) await unlink(join(folder, 'flights', `${n}.json`));
    const all = await askAgain(
      'they are told',
      async () => {
        made.look();
        return told();
      },
      ({ length }) => length === 3,
    );
    const of = (name: string) => all.find((each) => each['name'] === name);
    expect(of('a ü.mp4')).to.include({
      kind: 'recordings',
      bytes: 1000,
      url: `${server.url}/${BUCKET}/north/${DEVICE}/recordings/a%20%C3%BC.mp4`,
      logged_at: null,
    });
    expect(of('4d2_7_1000_1700000000.log')?.['logged_at']).to.equal(1_700_000_000_000);
    expect(of('4d2_8_1000_0.log')?.['logged_at']).to.equal(null);
    await rm(join(folder, 'flights'), { recursive: true });
    await made.stop();
    const next = await begun();
    await write('c.mp4', 1000);
    await until(next, 'uploaded', done);
    const later = await askAgain('it is told', told, ({ length }) => length > 0); // a moment after it is uploaded
    expect(later.map(({ name }) => name)).to.deep.equal(['c.mp4']);
  });

  it('comes back to the same store by itself', async () => {
    await write('a.mp4', 1000);
    await server.kill();
    const made = await begun();
    await until(made, 'it fails', ({ problem }) => problem !== null);
    await server.run();
    const real = world.now;
    world.now = () => real() + 3_600_000; // its pause is over
    const { problem } = await until(made, 'uploaded', done);
    expect(problem).to.equal(null);
  });

  it('sends nothing twice where only its own list is lost, and everything to another store', async () => {
    await write('a.mp4', 1000);
    await write('b.mp4', PART + 1);
    const first = await begun();
    await until(first, 'uploaded', done);
    await first.stop();
    await writeFile(join(folder, 'uploads.json'), '{"version":1,"files":[{"id":7}]}', { mode: 0o600 });
    const second = await begun();
    await until(second, 'known again', done);
    await second.stop();
    expect(server.answered('PutObject')).to.equal(1);
    expect(server.answered('UploadPart')).to.equal(2);
    const third = await begun({ prefix: 'south/' });
    await until(third, 'uploaded', done);
    expect(server.answered('PutObject')).to.equal(2);
  });

  const wrong: readonly (readonly [string, Partial<Config['upload']>, RegExp])[] = [
    ['a wrong key', { secret_access_key: 'another' }, /refuses the access key/],
    ['an unknown id', { access_key_id: 'NOBODY' }, /refuses the access key/],
    ['no such bucket', { bucket: 'not-there' }, /has no bucket not-there/],
    ['nobody there', { endpoint: 'http://127.0.0.1:9' }, /cannot be reached/],
  ];
  for (const [what, config, words] of wrong)
    it(`${what}: says so, and keeps everything`, async () => {
      await write('a.mp4', 1000);
      await write('b.mp4', PART + 1);
      const made = await begun({ ...config, keep_days: 1 });
      const {
        problem,
        waiting_files: left,
        waiting_for: waits,
      } = await until(made, 'it fails', (state) => state.problem !== null);
      expect(problem).to.match(words);
      expect(left).to.equal(2);
      expect(waits).to.equal('store');
      expect(await readdir(join(folder, 'recordings'))).to.have.length(2);
    });

  for (const days of [-400, 400])
    it(`signs by the store's clock where its own is wrong by ${days} days`, async () => {
      await write('a.mp4', 1000);
      world.wall = () => Date.now() + days * DAY_MS;
      const made = await begun();
      await until(made, 'uploaded', done);
    });

  it('waits while the vehicle is armed, also in the middle of a part, and goes on afterwards', async () => {
    const content = await write('long.mp4', 3 * PART);
    world.disarmed = false;
    const made = await begun({ max_kbit_s: 200_000 });
    await until(made, 'it waits', (state) => state.waiting_for === 'disarmed');
    world.disarmed = true;
    await until(made, 'a part is there', ({ uploads }) => (uploads[0]?.sent_bytes ?? 0) >= PART);
    world.disarmed = false;
    await until(made, 'it waits again', (state) => state.waiting_for === 'disarmed');
    const parts = server.answered('UploadPart');
    expect(parts).to.be.below(3);
    world.disarmed = true;
    await until(made, 'uploaded', done);
    expect((await server.object(`north/${DEVICE}/recordings/long.mp4`)).equals(content)).to.equal(true);
  });

  it('goes on while the vehicle is armed, or on an uplink that costs, only where it is told to', async () => {
    await write('a.mp4', 1000);
    world.disarmed = false;
    world.metered = true;
    const made = await begun({ while_armed: true });
    await until(made, 'it waits', (state) => state.waiting_for === 'unmetered');
    await made.stop();
    const told = await begun({ while_armed: true, on_metered: true });
    await until(told, 'uploaded', done);
  });

  it('a file that cannot be read is in the way of no other', async () => {
    await write('a bad one.mp4', 1000);
    await write('b.mp4', 1000);
    const made = await begun();
    const { uploads, problem } = await until(
      made,
      'the other is there',
      (state) => state.uploads.some(({ state: each }) => each === 'uploaded') && state.problem !== null,
    );
    expect(problem).to.include('EIO');
    expect(uploads.map(({ name, state }) => `${name} ${state}`).toSorted()).to.deep.equal([
      'a bad one.mp4 waiting',
      'b.mp4 uploaded',
    ]);
  });

  it('takes no more of the uplink than it may', async () => {
    await write('a.mp4', 1_000_000);
    const at = performance.now();
    const made = await begun({ max_kbit_s: 8000 });
    await until(made, 'uploaded', done);
    // A megabyte at a megabyte a second, but for what may go at once.
    expect(performance.now() - at).to.be.above(800);
  });

  it('a file that grows, shrinks or is deleted on its way is sent as it is then, or not', async () => {
    await write('a.mp4', 3 * PART);
    const path = join(folder, 'recordings', 'a.mp4');
    const made = await begun({ max_kbit_s: 200_000 });
    const sending = async (): Promise<unknown> =>
      until(made, 'a part is there', ({ uploads }) => (uploads[0]?.sent_bytes ?? 0) >= PART);
    await sending();
    await truncate(path, PART + 5);
    await utimes(path, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));
    const { uploads } = await until(made, 'uploaded', done);
    expect(uploads[0]?.size_bytes).to.equal(PART + 5);
    await appendFile(path, randomBytes(PART));
    await utimes(path, new Date(Date.now() - 50_000), new Date(Date.now() - 50_000));
    await until(
      made,
      'the grown one',
      (state) => done(state) && state.uploads[0]?.size_bytes === 2 * PART + 5,
    );
    expect(await server.object(`north/${DEVICE}/recordings/a.mp4`)).to.have.length(2 * PART + 5);
    await write('b.mp4', 3 * PART);
    await sending();
    await unlink(join(folder, 'recordings', 'b.mp4'));
    const after = await until(made, 'it is forgotten', done);
    expect(after.uploads).to.have.length(1);
    await until(made, 'its parts are gone', () => true);
  });

  it('deletes here what the store has had for so long, and only that', async () => {
    await write('a.mp4', 1000);
    await write('b.mp4', 1000);
    const made = await begun({ keep_days: 7 });
    const { uploads } = await until(made, 'uploaded', done);
    expect(uploads[0]?.deleted_after).to.be.a('string');
    await rm(server.path(`north/${DEVICE}/recordings/b.mp4`));
    world.wall = () => Date.now() + 6 * DAY_MS;
    await until(made, 'nothing', () => true);
    expect(await readdir(join(folder, 'recordings'))).to.have.length(2);
    world.wall = () => Date.now() + 8 * DAY_MS;
    await until(
      made,
      'one is gone, the other there again',
      // Until it has looked for b.mp4, it takes that as done.
      (state) =>
        done(state) &&
        state.uploads.length === 1 &&
        existsSync(server.path(`north/${DEVICE}/recordings/b.mp4`)),
    );
    expect(await readdir(join(folder, 'recordings'))).to.deep.equal(['b.mp4']);
    expect(await server.object(`north/${DEVICE}/recordings/b.mp4`)).to.have.length(1000);
  });

  it('a store that is full says so; what is there stays, and it goes on when there is room', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const disk = join(folder, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'none', disk]);
    const small = await S3Server.start(join(folder, 'full'), disk);
    try {
      const content = await write('a.mp4', 2 * PART);
      const made = await begun({ endpoint: small.url });
      const { problem } = await until(made, 'it fails', (state) => state.problem !== null);
      expect(problem).to.match(/full|The store answered 5\d\d/);
      execFileSync('mount', ['-o', 'remount,size=64m', disk]);
      const real = world.now;
      world.now = () => real() + 3_600_000;
      await until(made, 'uploaded', done);
      expect((await small.object(`north/${DEVICE}/recordings/a.mp4`)).equals(content)).to.equal(true);
    } finally {
      await small.kill();
      execFileSync('umount', ['-l', disk]);
    }
  });

  describe('a store that is none', () => {
    const answers: readonly (readonly [string, RequestListener, words?: RegExp])[] = [
      ['a page', (_, res) => res.end('<html>Welcome</html>')],
      [
        'an answer without end',
        ({ method }, res) => {
          res.writeHead(method === 'HEAD' ? 404 : 200);
          if (method === 'HEAD') {
            res.end();
            return;
          }
          const more = setInterval(() => res.write('x'.repeat(100_000)), 1);
          res.once('close', () => clearInterval(more));
        },
      ],
      [
        'an error that is hostile',
        (_, res) => {
          res.writeHead(500);
          res.end(`<Error><Code>\u001b[31m</Code><Message>${'a\u202e'.repeat(10_000)}</Message></Error>`);
        },
      ],
      [
        'one of another region', // as Amazon's says it; S3Proxy takes any
        (_, res) => {
          res.writeHead(400);
          res.end(
            "<Error><Code>AuthorizationHeaderMalformed</Code><Message>The region 'us-east-1' is wrong; expecting 'eu-west-9'</Message><Region>eu-west-9</Region></Error>",
          );
        },
        /region/,
      ],
      ['a length that is none', (_, res) => res.writeHead(200, { 'x-amz-id': '1' }).end()],
      ['nothing but a closed door', (req) => req.socket.destroy()],
    ];
    for (const [what, answer, words = /./] of answers)
      it(`${what}: says so in a line, and counts nothing as uploaded`, async () => {
        await write('a.mp4', 1000);
        await write('b.mp4', PART + 1);
        const http = createServer(answer).listen(0, '127.0.0.1');
        await once(http, 'listening');
        const address = http.address();
        const port = typeof address === 'object' && address !== null ? address.port : 0;
        const made = await begun({ endpoint: `http://127.0.0.1:${port}`, keep_days: 1 });
        const { problem, waiting_files: left } = await until(
          made,
          'it fails',
          (state) => state.problem !== null,
        );
        expect(left).to.equal(2);
        expect(problem)
          .to.match(/^[^\p{C}]{1,400}$/u)
          .and.match(words);
        http.closeAllConnections();
        http.close();
      });
  });
});
