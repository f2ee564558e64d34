import { statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { EventQueue, type EventQueueOptions } from '../../front/fleet/event-queue.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const MB = 1_000_000;

describe('the queue of events', () => {
  let folder: string;
  let lines: string[];
  const open: EventQueue[] = [];

  beforeEach(async () => {
    folder = await tempDir();
    lines = [];
  });
  afterEach(async () => {
    for (const queue of open.splice(0)) queue.close();
    await removeDir(folder);
  });

  function fresh(options: Partial<EventQueueOptions> = {}): EventQueue {
    const write = (line: unknown): void => void lines.push(String(line));
    const log = { info: write, warn: write, error: write } as unknown as EventQueueOptions['log'];
    const path = join(folder, 'queue.db');
    const made = new EventQueue({ path, owner: 'f/n', maxBytes: MB, log, now: () => 1000, ...options });
    open.push(made);
    return made;
  }

  const event = (n: number, kind = 'vehicle.mode') => ({ at: n, kind, detail: { n, text: 'x'.repeat(400) } });

  /** Some at once: each call waits for the disk. */
  function add(to: EventQueue, from: number, end: number, kind?: string): void {
    for (let n = from; n < end; n += 20)
      to.append(Array.from({ length: Math.min(20, end - n) }, (_, index) => event(n + index, kind)));
  }

  function numbers(of: EventQueue): readonly (readonly [string, unknown])[] {
    const found: (readonly [string, unknown])[] = [];
    for (let next = of.next(0); next !== null; next = of.next(next.seq))
      found.push([next.kind, next.detail['n']]);
    return found;
  }

  /** Of the file and of what SQLite has beside it, which is a map of memory in part. */
  const bytes = (): number =>
    ['', '-wal'].reduce((sum, suffix) => sum + statSync(join(folder, `queue.db${suffix}`)).size, 0);

  it('keeps order, numbers and stream across restarts, and never gives a number twice', () => {
    const first = fresh();
    for (let n = 0; n < 5; n++) first.append([event(n)]);
    expect(first.acknowledge(first.stream, 5)).to.equal(true);
    const { stream } = first;
    first.close();
    const second = fresh();
    expect(second.stream).to.equal(stream);
    expect(second.behind).to.equal(0);
    second.append([event(5)]);
    expect(second.next(0)).to.include({ stream, seq: 6, at: 5, kind: 'vehicle.mode' });
    expect(second.acknowledgedAt).to.equal(1000);
  });

  it('belongs to one node of one fleet: for another it begins anew', () => {
    const first = fresh();
    first.append([event(0)], { vehicle: 'armed' });
    first.close();
    const second = fresh({ owner: 'other/n' });
    expect(second.behind).to.equal(0);
    expect(second.fact('vehicle')).to.equal(null);
    expect(second.stream).not.to.equal(first.stream);
  });

  it('stays within its bound on the disk; the oldest telemetry goes first, events last, and both are counted', () => {
    const full = fresh();
    add(full, 0, 500);
    add(full, 500, 2500, 'telemetry');
    expect(bytes()).to.be.below(MB);
    expect(full.dropped.events).to.equal(0);
    const telemetry = full.dropped.telemetry;
    expect(telemetry).to.be.above(1000);
    expect(full.behind + telemetry).to.equal(2500);
    const kept = numbers(full);
    expect(kept.slice(0, 500)).to.deep.equal(Array.from({ length: 500 }, (_, n) => ['vehicle.mode', n]));
    expect(kept.at(-1)).to.deep.equal(['telemetry', 2499]);
    expect(kept[500]).to.deep.equal(['telemetry', 500 + telemetry]);
    add(full, 2500, 5000);
    expect(bytes()).to.be.below(MB);
    const { events } = full.dropped;
    expect(events).to.be.above(1000);
    expect(numbers(full).every(([kind]) => kind === 'vehicle.mode')).to.equal(true);
    expect(numbers(full).at(-1)).to.deep.equal(['vehicle.mode', 4999]);
    const { dropped } = full;
    full.close();
    expect(fresh().dropped).to.deep.equal(dropped);
  });

  it('puts a damaged file aside, and begins another stream', async () => {
    const first = fresh();
    first.append([event(0)]);
    first.close();
    writeFileSync(join(folder, 'queue.db'), 'no database at all, but long enough to look at'.repeat(100));
    const second = fresh();
    second.append([event(1)]);
    expect(second.stream).not.to.equal(first.stream);
    expect(numbers(second)).to.deep.equal([['vehicle.mode', 1]]);
    expect(lines.join()).to.include('set aside as');
    expect(await readdir(folder)).to.include('queue.db.broken-1000');
  });

  it('goes on in memory where there is no place for a file, and says so', () => {
    const queued = fresh({ path: join(folder, 'no', 'such', 'folder', 'queue.db') });
    queued.append([event(0)]);
    expect(numbers(queued)).to.deep.equal([['vehicle.mode', 0]]);
    expect(lines.join()).to.include('in memory until the next start');
  });
});
