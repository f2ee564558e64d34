import { expect } from 'chai';
import { sql } from 'kysely';
import type { HubDatabase } from '../../bin/hub/database/tables.ts';
import { Events } from '../../bin/hub/fleet/events.ts';
import { Fleet } from '../../bin/hub/fleet/fleet.ts';
import { LeaseLost } from '../../bin/hub/fleet/share.ts';
import { Locks } from '../../bin/hub/replicas/locks.ts';
import { partitionOf, Replica } from '../../bin/hub/replicas/replica.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { Databases } from '../support/hub-database.ts';
import { noPostgres } from '../support/postgres.ts';

const missing = noPostgres();
const key = { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) } as const;
const ROUNDS = 300;
const event = (seq: number) => ({ stream: 's', seq, at: seq, kind: 'node.started', detail: {} });

describe(`what only one of several hubs may do${missing === null ? '' : ` (${missing})`}`, () => {
  let databases: Databases;
  let db: HubDatabase;
  const running: Replica[] = [];
  before(async function () {
    if (missing !== null) return this.skip();
    databases = await Databases.of('postgres');
  });
  after(async () => databases?.end());
  beforeEach(async () => {
    db = await databases.open();
  });
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop();
    await db.close();
  });

  /** @param isDeaf it does not notice that its session has ended, as a process that stands still */
  const sessions = (isDeaf: boolean): Pick<HubDatabase, 'session' | 'name'> => ({
    name: db.name,
    session: async () => {
      const session = await db.session?.();
      if (session === undefined) throw new Error('no sessions');
      return isDeaf ? { ...session, ended: false } : session;
    },
  });
  const replica = async (isDeaf = false): Promise<Replica> => {
    const made = new Replica({
      database: sessions(isDeaf),
      now: () => Date.now(),
      monotonic: () => performance.now(),
      onChange: async () => undefined,
      onAlarm: () => undefined,
      log: createLogger('svc-hub', 'error'),
    });
    running.push(made);
    await made.start();
    return made;
  };
  /** PostgreSQL ends the sessions, as after a time without a word. */
  const endSessions = async (): Promise<void> => {
    const named = sql`SELECT pid, pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'svc-hub locks'`;
    await named.execute(db.queries);
  };
  const enrolled = async (fleet: Fleet): Promise<void> => {
    const secret = '';
    await fleet.store(
      { secret, device_id: 'n', name: 'n', profile: 'drone', version: '1', csr: '', signing_key: key },
      { tags: [], group: null },
      db.queries,
    );
    await fleet.reload('n');
  };

  it('a name at the broker, the upkeep and each part of the nodes are one hub’s at a time', async () => {
    const first = await replica();
    expect([first.name, first.upkeep, first.has('n')]).to.deep.equal(['hub-1', true, true]);
    const second = await replica();
    expect([second.name, second.upkeep, second.has('n')]).to.deep.equal(['hub-2', false, false]);
  });

  it('whoever takes and whoever writes wait for each other, and never in a circle', async () => {
    const names = (await db.queries.selectFrom('leases').select('name').orderBy('name').execute()).map(
      ({ name }) => name,
    );
    const locks = new Locks(sessions(false), names, () => performance.now());
    await locks.look(Date.now);
    await locks.take(names);
    const write = async (): Promise<void> => {
      await db.queries.transaction().execute(async (on) => locks.check(on, new Set(names)));
    };
    const again = async (work: () => Promise<void>): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) await work();
    };
    const turn = async (): Promise<void> => {
      await locks.release(names.toSorted(() => Math.random() - 0.5));
      await locks.take(names.toSorted(() => Math.random() - 0.5));
    };
    const refused = async (work: () => Promise<void>): Promise<void> =>
      work().catch((error: unknown) => {
        if (!(error instanceof LeaseLost)) throw error; // it was given up in between
      });
    await Promise.all([again(turn), ...[1, 2, 3].map(async () => again(async () => refused(write)))]);
    await locks.close();
  });

  it('events that wait when somebody else has the node are not stored, and not acknowledged', async () => {
    const late = await replica(true);
    const events = await Events.open({
      onLeftOut: () => undefined,
      db: db.queries,
      share: late,
      now: () => 1,
      monotonic: () => 0,
      retention: { days: 30, max: 1000 },
      flightsMb: 1,
    });
    events.take('n', event(1));
    await events.commit();
    events.take('n', event(2));
    await endSessions();
    const next = await replica();
    expect([late.has('n'), next.has('n')]).to.deep.equal([true, true]); // so the first one believes
    const failed = await events.commit().catch((error: unknown) => error);
    expect(failed).to.be.an('error').with.property('message', 'another replica hears these nodes now');
    expect(await events.list({ after: 0, limit: 10 }, null)).to.have.length(1);
  });

  it('what a node said is not written over what somebody else has written of it since', async () => {
    const late = await replica(true);
    const fleet = await Fleet.open(db.queries, late, () => 1);
    await enrolled(fleet);
    fleet.status('n', { mode: 'OLD' }, false);
    await endSessions();
    const next = await replica();
    const other = await Fleet.open(db.queries, next, () => 2);
    other.status('n', { mode: 'NEW' }, false);
    await other.save();
    expect(await fleet.save().catch(() => 'refused')).to.equal('refused');
    await fleet.catchUp();
    const row = await db.queries.selectFrom('nodes').select('status').executeTakeFirstOrThrow();
    expect(row.status).to.include('NEW');
  });

  it('a lease that was lost and taken again is another one: what was known in between counts no more', async () => {
    const late = await replica(true);
    await endSessions();
    const next = await replica();
    await next.stop();
    const part = partitionOf('n');
    const { fence } = await db.queries
      .selectFrom('leases')
      .select('fence')
      .where('name', '=', part)
      .executeTakeFirstOrThrow();
    expect(fence).to.equal(2);
    const failed = await db.queries
      .transaction()
      .execute(async (on) => late.check(on, ['n']))
      .catch((error: unknown) => error);
    expect(failed).to.be.an('error');
  });

  it('an alarm that is cleared at one replica is cleared at the one that hears the node, and not raised again by it', async () => {
    const hearing = await replica();
    const fleet = await Fleet.open(db.queries, hearing, () => 1);
    await enrolled(fleet);
    fleet.accuse('n', 'flood');
    await fleet.save();
    const other = await Fleet.open(db.queries, await replica(), () => 1);
    expect(other.entry('n')?.alarm).to.include('tells more than');
    await other.clearAlarm('n');
    fleet.status('n', { mode: 'GUIDED' }, false);
    await fleet.save(); // before it has heard of that
    await fleet.catchUp();
    expect(fleet.entry('n')?.alarm).to.equal(null);
    fleet.status('n', { mode: 'LOITER' }, false);
    await fleet.save();
    await other.catchUp();
    expect(other.entry('n')).to.deep.include({ alarm: null, status: { mode: 'LOITER', audit_head: null } });
  });
});
