import { EventEmitter, once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { openLogDatabase } from '../../residual/app/logs/log-database.ts';
import { type LogFilter, readFilter } from '../../residual/app/logs/log-filter.ts';
import { LogIngest } from '../../residual/app/logs/log-ingest.ts';
import { type Contents, LogQuery } from '../../residual/app/logs/log-query.ts';
import { LogStore, type NumberedRecord } from '../../residual/app/logs/log-store.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const LOG = createLogger('test', 'silent');
const DAY_US = 86_400e6;

function records(from: number, count: number, tsUs: number, size = 40): NumberedRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    seq: from + index,
    record: {
      tsUs,
      source: 'svc-x',
      level: 'info' as const,
      message: `${from + index} ${'x'.repeat(size)}`,
      fields: null,
    },
  }));
}

describe('the log store on disk', () => {
  let dir = '';
  let path = '';
  beforeEach(async () => {
    dir = await tempDir();
    path = join(dir, 'logs/logs.db');
  });
  afterEach(async () => removeDir(dir));

  const open = (
    limits = { maxBytes: 1 << 30, maxAgeDays: 30 },
    nowUs = (): number => Date.now() * 1000,
  ): LogStore => new LogStore(openLogDatabase(path, Date.now(), LOG).db, path, limits, nowUs);
  const query = (): LogQuery => new LogQuery(new DatabaseSync(path, { readOnly: true }));
  const filter = (text: string): LogFilter =>
    readFilter(Object.fromEntries(new URLSearchParams(text)), Date.now());

  const contents = (): Contents => {
    using db = new DatabaseSync(path, { readOnly: true });
    return new LogQuery(db).contents();
  };

  for (const [name, bytes] of [
    ['no database at all', Buffer.from('hello')],
    ['a database cut in the middle', null],
    ['zeros', Buffer.alloc(100_000)],
  ] as const) {
    it(`${name}: set aside, and a new one begun`, async () => {
      const first = open();
      first.append('s', records(1, 5000, Date.now() * 1000));
      first.close();
      const whole = await readFile(path);
      await writeFile(path, bytes ?? whole.subarray(0, Math.floor(whole.length / 3)));
      const { db, setAside } = openLogDatabase(path, 12_345, LOG);
      expect(setAside).to.equal(`${path}.broken-12345`);
      const store = new LogStore(db, path, { maxBytes: 1 << 30, maxAgeDays: 30 }, () => Date.now() * 1000);
      expect(contents().rows.logs).to.equal(0);
      store.append('s', records(1, 1, Date.now() * 1000));
      store.close();
      expect(await readdir(dirname(path))).to.include('logs.db.broken-12345');
    });
  }

  it('at most two broken ones are kept', async () => {
    await mkdir(dirname(path), { recursive: true });
    for (let at = 1; at <= 4; at++) {
      await writeFile(path, 'broken');
      openLogDatabase(path, at, LOG).db.close();
    }
    const broken = (await readdir(dirname(path))).filter((name) => /broken-\d$/.test(name));
    expect(broken).to.deep.equal(['logs.db.broken-3', 'logs.db.broken-4']);
  });

  it('what may pass (no permission, a lock) is no damage: the file stays', async () => {
    await mkdir(path, { recursive: true }); // cannot be opened, for root too
    expect(() => openLogDatabase(path, 12_345, LOG)).to.throw('unable to open');
    expect(await readdir(dirname(path))).to.deep.equal(['logs.db']);
    await rm(path, { recursive: true });
    const first = open();
    first.append('s', records(1, 10, Date.now() * 1000));
    first.close();
    const holder = new DatabaseSync(path);
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM logs WHERE id = 1');
    expect(() => openLogDatabase(path, 12_345, LOG)).to.throw('locked');
    holder.exec('ROLLBACK');
    holder.close();
    const again = open();
    expect(contents().rows.logs).to.equal(10);
    again.close();
  });

  it('another version, and tables that are not ours, are set aside', () => {
    for (const [at, sql] of [
      'PRAGMA user_version = 99; ALTER TABLE events RENAME COLUMN kind TO sort',
      'DROP TABLE metrics',
    ].entries()) {
      open().close();
      const other = new DatabaseSync(path);
      other.exec(sql);
      other.close();
      const { db, setAside } = openLogDatabase(path, at, LOG);
      expect(setAside).to.equal(`${path}.broken-${at}`);
      db.close();
    }
  });

  it('a large deletion leaves the process its turn every few milliseconds', async () => {
    const now = Date.now() * 1000;
    let at = now;
    const store = open({ maxBytes: 1 << 30, maxAgeDays: 30 }, () => at);
    for (let batch = 0; batch < 30; batch++)
      store.append('s', records(1 + batch * 2000, 2000, now - 31 * DAY_US, 300));
    for (let second = 0; second < 3000; second++) {
      at = now - 31 * DAY_US + second * 1e6;
      store.metrics({ a: 1, b: 2, c: 3, d: 4 });
      store.flush();
    }
    at = now;
    // What this thread computes between two turns; a busy machine and a slow disk do not count.
    const turns: number[] = [];
    let before = process.threadCpuUsage();
    const turn = (): void => {
      const { user, system } = process.threadCpuUsage(before);
      turns.push((user + system) / 1000);
      before = process.threadCpuUsage();
      if (!done) setImmediate(turn);
    };
    let done = false;
    setImmediate(turn);
    const { deleted } = await store.retain(new AbortController().signal);
    done = true;
    expect(deleted).to.equal(60_000);
    expect(contents().rows).to.include({ logs: 0, metrics: 0 });
    const long = turns.filter((ms) => ms > 10);
    expect(turns.length).to.be.above(100);
    expect(long.length / turns.length, `${long.join(' ')} ms`).to.be.below(0.02);
    expect(Math.max(...long, 0)).to.be.below(50);
    store.close();
  });

  it('a deletion ends between two steps when the process stops', async () => {
    const now = Date.now() * 1000;
    const store = open(undefined, () => now);
    store.append('s', records(1, 5000, now - 31 * DAY_US, 300));
    const stopped = new AbortController();
    const running = store.retain(stopped.signal);
    stopped.abort();
    const { deleted } = await running;
    expect(deleted).to.be.within(1, 4999);
    expect(contents().rows.logs).to.equal(5000 - deleted);
    store.close();
  });

  it('keeps no more than its size, the newest, and no record older than its age', async () => {
    const now = Date.now() * 1000;
    const store = open({ maxBytes: 8 << 20, maxAgeDays: 30 }, () => now);
    store.append('s', records(1, 100, now - 31 * DAY_US));
    for (let at = 0; at < 20; at++) store.append('s', records(101 + at * 2000, 2000, now, 300));
    await store.retain(new AbortController().signal);
    const { rows, oldest_ts_us: oldest } = contents();
    const { size } = await stat(path);
    expect(oldest).to.equal(now);
    expect(rows.logs).to.be.within(1000, 39_000);
    expect(size).to.be.lessThan(20 << 20);
    store.close();
  });

  describe('a clock that was wrong for a while', () => {
    const RIGHT_US = Date.UTC(2026, 5, 1) * 1000;
    const machine = { boot_id: 'a', uptime: 100, wallUs: RIGHT_US };
    const pass = (days: number): void => {
      machine.uptime += days * 86_400;
      machine.wallUs += days * DAY_US;
    };
    const begin = (maxBytes = 1 << 30): LogStore => {
      Object.assign(machine, { boot_id: 'a', uptime: 100, wallUs: RIGHT_US });
      const { db } = openLogDatabase(path, Date.now(), LOG);
      const limits = { maxBytes, maxAgeDays: 30 };
      return new LogStore(
        db,
        path,
        limits,
        () => machine.wallUs,
        () => machine,
      );
    };
    const retain = async (store: LogStore): Promise<unknown> => store.retain(new AbortController().signal);
    const later = async (store: LogStore): Promise<void> => {
      pass(5 / 1440);
      await retain(store);
    };
    const write = (store: LogStore, seq: number): void => {
      store.append('s', records(seq, 1, machine.wallUs));
      store.event('x', 'test', 1, { seq });
      store.metrics({ height: seq });
      store.flush();
    };
    const kept = (kind: string): unknown[] => {
      using db = new DatabaseSync(path, { readOnly: true });
      return new LogQuery(db)
        .page(filter(`kind=${kind}`), 100, null)
        .rows.map(({ msg, detail, value }) =>
          Number(/\d+/.exec(JSON.stringify(msg ?? value ?? detail))?.[0]),
        );
    };

    for (const [name, stepUs] of [
      ['a day', DAY_US],
      ['ten years', 3650 * DAY_US],
      ['56 years', 56 * 365 * DAY_US],
    ] as const)
      for (const way of [1, -1] as const)
        it(`${name} ${way === 1 ? 'ahead' : 'behind'}: what came last is first, each is kept for its 30 days and no longer`, async () => {
          const store = begin();
          await retain(store);
          write(store, 1);
          await later(store);
          machine.wallUs += way * stepUs;
          await later(store);
          write(store, 2);
          await later(store);
          machine.wallUs -= way * stepUs;
          await later(store);
          pass(1);
          write(store, 3);
          await later(store);
          for (const kind of ['logs', 'events']) expect(kept(kind), kind).to.deep.equal([3, 2, 1]);
          expect(kept('metrics')).to.have.members([1, 2, 3]);
          pass(29.5);
          await retain(store);
          for (const kind of ['logs', 'events'])
            expect(kept(kind), `${kind} after 30 days`).to.deep.equal([3]);
          // Values have no number: one of a clock that was a day ahead may stay for that day.
          expect(kept('metrics').filter((value) => value !== 2 || stepUs > DAY_US)).to.deep.equal([3]);
          pass(1.5);
          await retain(store);
          for (const kind of ['logs', 'events', 'metrics']) expect(kept(kind), 'all old').to.deep.equal([]);
          store.close();
        });

    it('a reboot takes no age away, and a page goes on where the last one ended', async () => {
      const store = begin();
      await retain(store);
      for (let seq = 1; seq <= 6; seq++) {
        machine.wallUs += (seq % 2 === 0 ? 1 : -1) * 3650 * DAY_US;
        write(store, seq);
      }
      await retain(store);
      const first = query().page(filter('kind=logs'), 4, null);
      const second = query().page(filter('kind=logs'), 4, first.next);
      expect([...first.rows, ...second.rows].map(({ id }) => id)).to.deep.equal([6, 5, 4, 3, 2, 1]);
      pass(20);
      await retain(store);
      Object.assign(machine, { boot_id: 'b', uptime: 0 });
      await retain(store);
      pass(11);
      await retain(store);
      expect(kept('logs')).to.deep.equal([]);
      store.close();
    });

    it('a full store gives up what came first, not what is not of the future', async () => {
      const store = begin(2 << 20);
      await retain(store);
      machine.wallUs += 3650 * DAY_US;
      for (let at = 0; at < 3000; at++) {
        machine.wallUs += 1e6;
        store.metrics({ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 });
        if (at % 100 === 0) store.flush();
      }
      store.flush();
      pass(0.1);
      await retain(store);
      machine.wallUs = RIGHT_US + DAY_US;
      machine.uptime += 3600;
      await retain(store);
      for (let at = 0; at < 40_000; at++) {
        machine.wallUs += 1e6;
        machine.uptime += 1;
        store.metrics({ a: 1, b: 2, c: 3, d: 4 });
        if (at % 100 === 0) store.flush();
        if (at % 5000 === 0) await retain(store);
      }
      store.flush();
      await retain(store);
      using db = new DatabaseSync(path, { readOnly: true });
      const { newest, count } =
        db.prepare('SELECT max(ts_us) AS newest, count(*) AS count FROM samples').get() ?? {};
      expect(Number(newest), 'those of the future are gone').to.equal(machine.wallUs);
      expect(Number(count)).to.be.above(10_000);
      store.close();
    });
  });

  it('the values of a moment wait for their batch, and stay what they were', () => {
    let at = 1_000_000;
    const store = open(undefined, () => at);
    store.beginSession('boot', 'node started');
    for (; at <= 3_000_000; at += 1_000_000) store.metrics({ height: at / 1e6, speed: 5 });
    expect(contents().rows.metrics).to.equal(0);
    store.beginSession('flight', 'armed');
    store.flush();
    const { rows } = query().page(filter('kind=metrics&metric=height'), 10, null);
    expect(rows.map(({ ts_us: ts, value, session }) => [ts, value, session])).to.deep.equal([
      [3_000_000, 3, 1],
      [2_000_000, 2, 1],
      [1_000_000, 1, 1],
    ]);
    store.close();
  });

  it('values that a full disk did not take are written when there is room', () => {
    const { db } = openLogDatabase(path, Date.now(), LOG);
    const store = new LogStore(db, path, { maxBytes: 1 << 30, maxAgeDays: 30 }, () => 1_000_000);
    db.exec('PRAGMA query_only = 1'); // refuses every write, as a full disk does
    store.metrics({ height: 1 });
    expect(() => store.flush()).to.throw('readonly');
    db.exec('PRAGMA query_only = 0');
    store.flush();
    expect(contents().rows.metrics).to.equal(1);
    store.close();
  });

  it('what version 1.0 has written is read together with what is new, and goes with its age', async () => {
    const now = 40 * DAY_US;
    open().close();
    const old = new DatabaseSync(path);
    old.exec("DROP TABLE samples; INSERT INTO metric_names VALUES (7, 'height'), (8, 'speed')");
    for (const [ts, value] of [
      [now - 31 * DAY_US, 1],
      [now - DAY_US, 2],
    ] as const)
      old.prepare('INSERT INTO metrics VALUES (7, ?, ?, 1), (8, ?, 5, 1)').run(ts, value, ts);
    old.close();
    const store = open(undefined, () => now);
    store.metrics({ height: 3 });
    store.flush();
    const heights = (): unknown[] =>
      query()
        .page(filter('kind=metrics&metric=height'), 10, null)
        .rows.map(({ value }) => value);
    expect(heights()).to.deep.equal([3, 2, 1]);
    const [bucket] = query().aggregate(filter('kind=metrics&metric=height'), 60 * DAY_US, 'count');
    expect(bucket).to.include({ count: 3, min: 1, max: 3 });
    expect(contents().rows.metrics).to.equal(5);
    await store.retain(new AbortController().signal);
    expect(heights()).to.deep.equal([3, 2]);
    store.close();
  });

  it('a line waits for others, and one of trouble takes them along', async () => {
    const batches: number[][] = [];
    const seen = new EventEmitter();
    const store = {
      lastSeq: () => 0,
      get session() {
        seen.emit('line');
        return 4;
      },
      append: (_: string, stored: readonly NumberedRecord[]) => {
        batches.push(stored.map(({ seq }) => seq));
        seen.emit('batch');
      },
    } as unknown as LogStore;
    const socketPath = join(dir, 'logs.sock');
    const options = { path: socketPath, store, log: LOG, now: Date.now, onStored: () => undefined };
    const ingest = new LogIngest({ ...options, followed: () => false });
    await ingest.start();
    const shipper = connect(socketPath);
    await once(shipper, 'connect');
    shipper.write('{"shipper":"s"}\n');
    for (let seq = 1; seq <= 3; seq++) {
      const line = once(seen, 'line');
      shipper.write(`${seq} {"level":"info","msg":"${seq}"}\n`);
      await line;
    }
    const batch = once(seen, 'batch');
    shipper.write('4 {"level":"warn","msg":"4"}\n');
    await batch;
    const line = once(seen, 'line');
    shipper.write('5 {"level":"info","msg":"5"}\n');
    await line;
    await new Promise(setImmediate);
    ingest.flush();
    expect(batches).to.deep.equal([[1, 2, 3, 4], [5]]);
    shipper.destroy();
    await ingest.stop();
  });

  it('a boot session that was cut off ends where its newest record is', () => {
    const first = open();
    first.beginSession('boot', 'node started', { boot: '1' });
    first.append('s', records(1, 3, 1_000_000_000_000_000));
    const second = open();
    expect(second.resumeBoot('2')).to.equal(false);
    second.beginSession('boot', 'node started', { boot: '2' });
    expect(contents().rows.sessions).to.equal(2);
    expect(second.resumeBoot('2')).to.equal(true);
    expect(second.resumeBoot('1')).to.equal(false);
    second.close();
  });
});
