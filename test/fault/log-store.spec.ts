import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { openLogDatabase } from '../../residual/app/logs/log-database.ts';
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
      expect(store.stats().rows.logs).to.equal(0);
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

  it('keeps no more than its size, the newest, and no record older than its age', () => {
    const now = Date.now() * 1000;
    const store = open({ maxBytes: 8 << 20, maxAgeDays: 30 }, () => now);
    store.append('s', records(1, 100, now - 31 * DAY_US));
    for (let at = 0; at < 20; at++) store.append('s', records(101 + at * 2000, 2000, now, 300));
    for (let pass = 0; pass < 10; pass++) store.retain();
    const { rows, oldest_ts_us: oldest, db_size_bytes: size } = store.stats();
    expect(oldest).to.equal(now);
    expect(rows.logs).to.be.within(1000, 39_000);
    expect(size).to.be.lessThan(20 << 20);
    store.close();
  });

  it('a boot session that was cut off ends where its newest record is', () => {
    const first = open();
    first.beginSession('boot', 'node started', { boot: '1' });
    first.append('s', records(1, 3, 1_000_000_000_000_000));
    const second = open();
    expect(second.resumeBoot('2')).to.equal(false);
    second.beginSession('boot', 'node started', { boot: '2' });
    expect(second.stats().rows.sessions).to.equal(2);
    expect(second.resumeBoot('2')).to.equal(true);
    expect(second.resumeBoot('1')).to.equal(false);
    second.close();
  });
});
