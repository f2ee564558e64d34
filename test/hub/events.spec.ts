import { expect } from 'chai';
import { sql } from 'kysely';
import type { HubDatabase } from '../../bin/hub/database/tables.ts';
import { Events } from '../../bin/hub/fleet/events.ts';
import { ALONE } from '../../bin/hub/replicas/alone.ts';
import { Databases, ENGINES } from '../support/hub-database.ts';

const DAY_MS = 24 * 3600 * 1000;
const event = (seq: number, stream = 's') => ({ stream, seq, at: seq, kind: 'node.started', detail: {} });

for (const { engine, missing } of ENGINES)
  describe(`events that a hub keeps, ${engine}${missing === null ? '' : ` (${missing})`}`, () => {
    let databases: Databases;
    let db: HubDatabase;
    let now = 0;
    let clock = 0;
    before(async function () {
      if (missing !== null) return this.skip();
      databases = await Databases.of(engine);
    });
    after(async () => databases?.end());
    beforeEach(async () => {
      now = 100 * DAY_MS;
      db = await databases.open();
    });
    afterEach(async () => db.close());

    const open = async (max = 1000): Promise<Events> =>
      Events.open({
        onLeftOut: () => undefined,
        db: db.queries,
        share: ALONE,
        now: () => now,
        monotonic: () => clock,
        retention: { days: 30, max },
        flightsMb: 1,
      });
    const seqs = async (events: Events): Promise<readonly number[]> =>
      (await events.list({ after: 0, limit: 1000 }, null)).map(({ seq }) => seq);

    it('are those of the last days, and no more than the most', async () => {
      const events = await open(5);
      events.take('n', event(1));
      await events.commit();
      now += 31 * DAY_MS;
      clock += 31 * DAY_MS;
      for (const seq of [2, 3]) events.take('n', event(seq));
      await events.commit();
      expect(await events.prune()).to.equal(false);
      expect(await seqs(events)).to.deep.equal([2, 3]);
      for (const seq of [4, 5, 6, 7, 8]) events.take('n', event(seq));
      await events.commit();
      await events.prune();
      expect(await seqs(events)).to.deep.equal([4, 5, 6, 7, 8]);
    });

    it('outlive a clock that jumped ahead: in a day no more than a day of them is deleted', async () => {
      const events = await open();
      for (const seq of [1, 2, 3, 4, 5]) {
        events.take('n', event(seq));
        await events.commit();
        now += DAY_MS;
        clock += DAY_MS;
        await events.prune();
      }
      const right = now;
      now += 400 * DAY_MS;
      for (let minute = 0; minute < 24 * 60; minute++) {
        clock += 60_000;
        await events.prune();
      }
      expect(await seqs(events)).to.deep.equal([1, 2, 3, 4, 5]);
      clock += 24.5 * DAY_MS; // the first would be 30 days old now
      await events.prune();
      expect(await seqs(events)).to.deep.equal([2, 3, 4, 5]);
      const next = await open(); // a restart gives it no more
      await next.prune();
      clock += DAY_MS;
      await next.prune();
      expect(await seqs(next)).to.deep.equal([3, 4, 5]);
      now = right;
      clock += 3 * DAY_MS;
      await next.prune();
      expect(await seqs(next), 'the clock is right again').to.deep.equal([3, 4, 5]);
      now += 60 * DAY_MS;
      clock += 60 * DAY_MS;
      await next.prune();
      expect(await seqs(next)).to.deep.equal([]);
    });

    it('are looked through with a monotonic clock, which counts fractions of a millisecond', async () => {
      const events = await open();
      events.take('n', event(1));
      await events.commit();
      await events.prune();
      now += 400 * DAY_MS; // so that time is told by the other one
      for (const ms of [0.25, 60_000.4]) {
        clock += ms;
        expect(await events.prune()).to.equal(false);
      }
      expect(await seqs(events)).to.deep.equal([1]);
    });

    it('of a node beyond its share push out its own oldest, and nobody else’s, also after a restart', async () => {
      const events = await open(50_000);
      events.take('quiet', event(1));
      for (let seq = 1; seq <= 1200; seq++) events.take('loud', event(seq));
      await events.commit();
      expect(await events.pruneShares()).to.deep.equal(['loud']);
      expect(await events.pruneShares()).to.deep.equal([]);
      const of = async (node: string) =>
        (await events.list({ node, after: 0, limit: 5000 }, null)).map(({ seq }) => seq);
      expect([(await of('quiet')).length, (await of('loud')).length, (await of('loud'))[0]]).to.deep.equal([
        1, 1000, 201,
      ]);
      const next = await open(50_000);
      next.take('loud', event(1201));
      await next.commit();
      expect(await next.pruneShares()).to.deep.equal(['loud']);
      expect([(await of('quiet')).length, (await of('loud')).length, (await of('loud'))[0]]).to.deep.equal([
        1, 1000, 202,
      ]);
    });

    it('of a node beyond its bytes push out its own oldest', async () => {
      const events = await open(5_000_000);
      const detail = { wide: 'x'.repeat(60_000) };
      for (let seq = 1; seq <= 1200; seq++) events.take('wide', { ...event(seq), detail });
      events.take('quiet', event(1));
      await events.commit();
      expect(await events.pruneShares()).to.deep.equal(['wide']);
      const { rows } = await sql<{ bytes: number }>`SELECT sum(length(detail)) AS bytes FROM events`.execute(
        db.queries,
      );
      expect(Number(rows[0]?.bytes)).to.be.within(60 * 1024 * 1024, 64 * 1024 * 1024 + 100);
      expect(await events.list({ node: 'quiet', after: 0, limit: 10 }, null)).to.have.length(1);
    });

    it('are not taken again after they were deleted, and a new process knows that too', async () => {
      const events = await open(1);
      for (const seq of [1, 2, 3]) events.take('n', event(seq));
      await events.commit();
      await events.prune();
      const next = await open(1);
      for (const seq of [1, 2, 3]) next.take('n', event(seq));
      expect(await next.commit()).to.deep.equal([{ node: 'n', stream: 's', seq: 3 }]);
      expect(await seqs(next)).to.deep.equal([3]);
    });

    it('are not acknowledged if the disk did not take them, and taken when they come again', async () => {
      const events = await open();
      events.take('n', event(1));
      await sql`ALTER TABLE events RENAME TO away`.execute(db.queries);
      expect(
        await events.commit().then(
          () => null,
          (error: unknown) => error,
        ),
      ).to.be.instanceOf(Error);
      expect(await events.commit()).to.deep.equal([]);
      await sql`ALTER TABLE away RENAME TO events`.execute(db.queries);
      events.take('n', event(1));
      expect(await events.commit()).to.deep.equal([{ node: 'n', stream: 's', seq: 1 }]);
      expect(await seqs(events)).to.deep.equal([1]);
    });

    it('are listed by node, for those who may see it, the newest unless one asks what came after', async () => {
      const events = await open();
      for (const node of ['a', 'b']) for (const seq of [1, 2, 3]) events.take(node, event(seq));
      await events.commit();
      expect((await events.list({ limit: 2 }, null)).map(({ node, seq }) => [node, seq])).to.deep.equal([
        ['b', 2],
        ['b', 3],
      ]);
      expect(await events.list({ limit: 10 }, ['a'])).to.have.length(3);
      expect(await events.list({ node: 'b', limit: 10 }, ['a'])).to.deep.equal([]);
      expect(
        (await events.list({ node: 'a', after: 2, limit: 10 }, null)).map(({ seq }) => seq),
      ).to.deep.equal([3]);
    });
  });
