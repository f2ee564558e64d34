import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { makeHubDatabase } from '../../bin/hub/database.ts';
import { Events } from '../../bin/hub/fleet/events.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const DAY_MS = 24 * 3600 * 1000;
const event = (seq: number, stream = 's') => ({ stream, seq, at: seq, kind: 'node.started', detail: {} });

describe('events that a hub keeps', () => {
  let folder: string;
  let db: DatabaseSync;
  let now = 0;
  let clock = 0;
  beforeEach(async () => {
    folder = await tempDir();
    now = 100 * DAY_MS;
    db = makeHubDatabase(join(folder, 'hub.db'));
  });
  afterEach(async () => {
    if (db.isOpen) db.close();
    await removeDir(folder);
  });

  const open = (max = 1000): Events =>
    new Events(
      db,
      () => now,
      () => clock,
      { days: 30, max },
    );
  const seqs = (events: Events): readonly number[] =>
    events.list({ after: 0, limit: 1000 }, null).map(({ seq }) => seq);

  it('are those of the last days, and no more than the most', () => {
    const events = open(5);
    events.take('n', event(1));
    events.commit();
    now += 31 * DAY_MS;
    clock += 31 * DAY_MS;
    for (const seq of [2, 3]) events.take('n', event(seq));
    events.commit();
    expect(events.prune()).to.equal(false);
    expect(seqs(events)).to.deep.equal([2, 3]);
    for (const seq of [4, 5, 6, 7, 8]) events.take('n', event(seq));
    events.commit();
    events.prune();
    expect(seqs(events)).to.deep.equal([4, 5, 6, 7, 8]);
  });

  it('outlive a clock that jumped ahead: in a day no more than a day of them is deleted', () => {
    const events = open();
    for (const seq of [1, 2, 3, 4, 5]) {
      events.take('n', event(seq));
      events.commit();
      now += DAY_MS;
      clock += DAY_MS;
      events.prune();
    }
    const right = now;
    now += 400 * DAY_MS;
    for (let minute = 0; minute < 24 * 60; minute++) {
      clock += 60_000;
      events.prune();
    }
    expect(seqs(events)).to.deep.equal([1, 2, 3, 4, 5]);
    clock += 24.5 * DAY_MS; // the first would be 30 days old now
    events.prune();
    expect(seqs(events)).to.deep.equal([2, 3, 4, 5]);
    const next = open(); // a restart gives it no more
    next.prune();
    clock += DAY_MS;
    next.prune();
    expect(seqs(next)).to.deep.equal([3, 4, 5]);
    now = right;
    clock += 3 * DAY_MS;
    next.prune();
    expect(seqs(next), 'the clock is right again').to.deep.equal([3, 4, 5]);
    now += 60 * DAY_MS;
    clock += 60 * DAY_MS;
    next.prune();
    expect(seqs(next)).to.deep.equal([]);
  });

  it('of a node beyond its share push out its own oldest, and nobody else’s, also after a restart', () => {
    const events = open(50_000);
    events.take('quiet', event(1));
    for (let seq = 1; seq <= 1200; seq++) events.take('loud', event(seq));
    events.commit();
    expect(events.pruneShares()).to.deep.equal(['loud']);
    expect(events.pruneShares()).to.deep.equal([]);
    const of = (node: string) => events.list({ node, after: 0, limit: 5000 }, null).map(({ seq }) => seq);
    expect([of('quiet').length, of('loud').length, of('loud')[0]]).to.deep.equal([1, 1000, 201]);
    const next = open(50_000);
    next.take('loud', event(1201));
    next.commit();
    expect(next.pruneShares()).to.deep.equal(['loud']);
    expect([of('quiet').length, of('loud').length, of('loud')[0]]).to.deep.equal([1, 1000, 202]);
  });

  it('of a node beyond its bytes push out its own oldest', () => {
    const events = open(5_000_000);
    const detail = { wide: 'x'.repeat(60_000) };
    for (let seq = 1; seq <= 1200; seq++) events.take('wide', { ...event(seq), detail });
    events.take('quiet', event(1));
    events.commit();
    expect(events.pruneShares()).to.deep.equal(['wide']);
    const [row] = db.prepare('SELECT sum(length(detail)) AS bytes, count(*) AS n FROM events').all();
    expect(Number(row?.['bytes'])).to.be.within(60 * 1024 * 1024, 64 * 1024 * 1024 + 100);
    expect(events.list({ node: 'quiet', after: 0, limit: 10 }, null)).to.have.length(1);
  });

  it('are not taken again after they were deleted, and a new process knows that too', () => {
    const events = open(1);
    for (const seq of [1, 2, 3]) events.take('n', event(seq));
    events.commit();
    events.prune();
    const next = open(1);
    for (const seq of [1, 2, 3]) next.take('n', event(seq));
    expect(next.commit()).to.deep.equal([{ node: 'n', stream: 's', seq: 3 }]);
    expect(seqs(next)).to.deep.equal([3]);
  });

  it('are not acknowledged if the disk did not take them, and taken when they come again', () => {
    const events = open();
    events.take('n', event(1));
    db.exec('ALTER TABLE events RENAME TO away');
    expect(() => events.commit()).to.throw();
    expect(events.commit()).to.deep.equal([]);
    db.exec('ALTER TABLE away RENAME TO events');
    events.take('n', event(1));
    expect(events.commit()).to.deep.equal([{ node: 'n', stream: 's', seq: 1 }]);
    expect(seqs(events)).to.deep.equal([1]);
  });

  it('are listed by node, for those who may see it, the newest unless one asks what came after', () => {
    const events = open();
    for (const node of ['a', 'b']) for (const seq of [1, 2, 3]) events.take(node, event(seq));
    events.commit();
    expect(events.list({ limit: 2 }, null).map(({ node, seq }) => [node, seq])).to.deep.equal([
      ['b', 2],
      ['b', 3],
    ]);
    expect(events.list({ limit: 10 }, ['a'])).to.have.length(3);
    expect(events.list({ node: 'b', limit: 10 }, ['a'])).to.deep.equal([]);
    expect(events.list({ node: 'a', after: 2, limit: 10 }, null).map(({ seq }) => seq)).to.deep.equal([3]);
  });
});
