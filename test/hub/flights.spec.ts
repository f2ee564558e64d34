import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { MqttClient } from 'mqtt';
import type { HubDatabase } from '../../bin/hub/database/tables.ts';
import { Events } from '../../bin/hub/fleet/events.ts';
import { Airframes } from '../../bin/hub/flights/airframes.ts';
import { Flights } from '../../bin/hub/flights/flights.ts';
import { ALONE } from '../../bin/hub/replicas/alone.ts';
import { topics } from '../../shared/fleet/topics.ts';
import type { FlightsQuery } from '../../shared/hub-api/flight-schemas.ts';
import { askAgain } from '../support/ask-again.ts';
import { type EnrolledNode, failing, TestHub } from '../support/hub.ts';
import { Databases, ENGINES } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
const MIB = 1024 * 1024;
const noBroker = noMosquitto();
const HOSTILE = '=cmd|"/c calc"!sum\u0000\u001b[2J\ud800<img src=x onerror=alert(1)>';
const page: FlightsQuery = { limit: 100 };

/** Of half an hour, the nth of a node. */
const flight = (n: number, more: object = {}) => ({
  flight: `20260101T000000.${String(n).padStart(3, '0')}Z-1`,
  started_at: n * DAY_MS,
  ended_at: n * DAY_MS + HOUR_MS / 2,
  armed_s: 1800,
  airborne_s: 1700.5,
  distance_m: 1234.5,
  max_height_m: 50,
  max_speed_ms: 12.25,
  battery: { used_mah: 2000, start_v: 16.8, end_v: 14.9 },
  vehicle: 'ArduPilot copter 4.6',
  modes: [{ name: 'AUTO', from_s: 0, to_s: 1800 }],
  pilots: ['ada'],
  findings: [{ severity: 'warning', text: 'The battery was low.', at_s: 1700 }],
  log: `20260101T000000.${n}Z.tlog`,
  track: [
    [0, 47.1, 8.1, 0],
    [900, 47.2, 8.2, 50.5],
    [1800, 47.1, 8.1, null],
  ],
  ...more,
});

for (const { engine, missing } of ENGINES) {
  const name = `${engine}${missing === null ? '' : ` (${missing})`}`;

  describe(`flights that a hub keeps, ${name}`, () => {
    let databases: Databases;
    let db: HubDatabase;
    let events: Events;
    let now = 0;
    let clock = 0;
    let seq = 0;
    before(async function () {
      if (missing !== null) return this.skip();
      databases = await Databases.of(engine);
    });
    after(async () => databases?.end());
    beforeEach(async () => {
      now = 1000 * DAY_MS;
      clock = 0;
      db = await databases.open();
      await start();
    });
    afterEach(async () => db.close());

    const start = async (): Promise<void> => {
      events = await Events.open({
        onLeftOut: () => undefined,
        db: db.queries,
        share: ALONE,
        now: () => now,
        monotonic: () => clock,
        retention: { days: 30, max: 10_000 },
        flightsMb: 8,
      });
    };

    const flights = (keepDays: number | null = null): Flights =>
      new Flights({ db: db.queries, now: () => now, monotonic: () => clock, keepDays });
    const airframes = (): Airframes =>
      new Airframes({
        db: db.queries,
        rules: [
          { name: 'propellers', of: 'airframe', hours: 1, days: 100 },
          { name: 'capacity', of: 'battery', flights: 2 },
        ],
        nameOf: () => 'kite',
        now: () => now,
      });
    const tell = async (node: string, ...details: readonly object[]): Promise<void> => {
      for (const detail of details)
        events.take(node, { stream: 's', seq: ++seq, at: 1, kind: 'flight', detail: { ...detail } });
      await events.commit();
    };

    it('are each there once, however often they are told, and the event is kept without the track', async () => {
      await tell('kite', flight(1), flight(2), flight(1));
      await tell('kite', flight(2, { armed_s: 9999 }));
      await tell('hawk', flight(1));
      const { flights: found, next } = await flights().page(page, null);
      expect(next).to.equal(null);
      expect(found.map(({ node, flight: id }) => [node, id.slice(16, 19)])).to.deep.equal([
        ['kite', '002'],
        ['hawk', '001'],
        ['kite', '001'],
      ]);
      const [sums] = (await airframes().page({ limit: 10 }, ['kite'])).airframes;
      expect(sums).to.include({ flights: 2, hours: 1 });
      const listed = await events.list({ limit: 10 }, null);
      expect(listed).to.have.length(5);
      expect(listed[0]?.detail).to.include({ armed_s: 1800, track: null });
      const one = await flights().find(String(found[0]?.id), null);
      expect(one.track?.geometry.coordinates).to.deep.equal([
        [8.1, 47.1],
        [8.2, 47.2],
        [8.1, 47.1],
      ]);
      expect(one.track?.properties.heights_m).to.deep.equal([0, 50.5, null]);
      expect(one.track?.properties.times_s).to.deep.equal([0, 900, 1800]);
      expect(one).to.deep.include({ pilots: ['ada'], worst: 'warning', log: '20260101T000000.2Z.tlog' });
    });

    it('that say what cannot be keep what can, and never hold up what else was told', async () => {
      const wild = [
        { flight: 7 },
        { flight: '../../etc' },
        flight(3, { armed_s: Number.NaN }),
        flight(4, { started_at: 1e300 }),
        flight(5, {
          airborne_s: '1',
          distance_m: -1,
          max_height_m: 1e300,
          max_speed_ms: null,
          battery: { id: HOSTILE, used_mah: 'much', start_v: {}, end_v: [] },
          vehicle: HOSTILE,
          modes: [{ name: HOSTILE, from_s: 0, to_s: 1 }, null, { name: 7 }],
          pilots: [HOSTILE, 7, null, ...Array.from({ length: 100 }, (_, n) => `pilot ${n}`)],
          findings: [
            { severity: 'fatal', text: 'x' },
            { severity: 'critical', text: HOSTILE, at_s: 'then' },
            3,
          ],
          log: 'x'.repeat(10_000),
          track: [
            [0, 1],
            [0, 91, 0, 0],
            'x',
            null,
            [0, 47, 8, 1e300],
            ...Array.from({ length: 5000 }, () => 1),
          ],
        }),
        flight(6, { modes: 'all', pilots: 3, findings: {}, battery: null, track: 'x' }),
        flight(7),
      ];
      await tell('kite', ...wild);
      const { flights: found } = await flights().page(page, null);
      expect(found.map(({ started_at }) => started_at / DAY_MS)).to.deep.equal([7, 6, 5]);
      const one = await flights().find(String(found[2]?.id), null);
      expect(one).to.deep.include({
        airborne_s: null,
        distance_m: null,
        max_height_m: null,
        worst: 'critical',
      });
      expect(one.battery).to.deep.equal({ id: null, used_mah: null, start_v: null, end_v: null });
      expect(one.pilots).to.have.length(14);
      expect(one.log).to.have.length(300);
      expect(JSON.stringify(one)).not.to.match(/\\u0000|\\u001b|\\ud800/);
      expect(one.track).to.equal(null); // one point is no line
      expect(await events.list({ limit: 10 }, null)).to.have.length(wild.length);
    });

    it('of a clock that is ahead have ended when the hub heard of them, and say so; a day ahead is taken as it is', async () => {
      now = 100 * DAY_MS;
      const ahead = { started_at: Date.UTC(9999, 0), ended_at: Date.UTC(9999, 0) + HOUR_MS };
      await tell('kite', flight(1, ahead), flight(100), flight(2, { ended_at: 102 * DAY_MS }));
      await tell('kite', flight(3, { started_at: 253_402_300_799_999, ended_at: 3 }));
      const found = (await flights().page(page, null)).flights;
      expect(found.map(({ flight: id, ended_at }) => [Number(id.slice(16, 19)), ended_at])).to.deep.equal([
        [100, 100 * DAY_MS + HOUR_MS / 2],
        [3, now],
        [2, now],
        [1, now],
      ]);
      expect(found.map(({ started_at }) => started_at).slice(1)).to.deep.equal(
        [1, 2, 3].map(() => now - HOUR_MS / 2),
      );
      const one = await flights().find(String(found[3]?.id), null);
      expect(one.findings.map(({ text }) => text.slice(0, 91))).to.deep.equal([
        'The clock of the node was ahead: it said that the flight ended at 9999-01-01T01:00:00.000Z.',
        'The battery was low.',
      ]);
    });

    it('count for an airframe and a battery where something flew: armed on the ground is no flight', async () => {
      const ground = { airborne_s: 0, battery: { id: 'pack-1' } };
      await tell('kite', ...[1, 2, 3, 4, 5, 6].map((n) => flight(n, ground)));
      await tell('kite', flight(7, { battery: { id: 'pack-1' } }), flight(8, { airborne_s: null }));
      const { airframes: found } = await airframes().page({ limit: 10 }, null);
      expect(found.map(({ flights: count, hours }) => [count, hours])).to.deep.equal([[2, 4]]);
      expect(found[0]?.batteries.map(({ cycles }) => cycles)).to.deep.equal([1]);
      expect((await flights().page(page, null)).flights).to.have.length(8);
    });

    it('of a node that names ten times as many batteries as are kept are summed for those that flew last, and a page has as many airframes as fit', async () => {
      const batteries = async (node: string) =>
        db.queries.selectFrom('flight_sums').select('battery').where('node', '=', node).execute();
      for (let n = 0; n < 2000; n += 500) {
        now++;
        await tell(
          'hawk',
          ...Array.from({ length: 500 }, (_, i) =>
            flight(n + i, { battery: { id: `pack-${n + i}` }, track: null, modes: [], findings: [] }),
          ),
        );
      }
      await tell('kite', flight(1, { battery: { id: 'pack-1' } }), flight(2, { battery: { id: 'pack-1' } }));
      expect(await batteries('hawk')).to.have.length(201);
      const { airframes: found } = await airframes().page({ limit: 1000 }, null);
      expect(found.map(({ id, flights: count }) => [id, count])).to.deep.equal([
        ['hawk', 2000],
        ['kite', 2],
      ]);
      const ids = found[0]?.batteries.map(({ id }) => id);
      expect(ids).to.have.length(200).and.to.include('pack-1999').and.not.to.include('pack-0');
      expect(found[1]?.batteries).to.deep.equal([
        { id: 'pack-1', flights: 2, hours: 1, airborne_hours: 0.945, cycles: 2 },
      ]);
      // One that is named again begins anew; with it goes what was noted of the one that it displaces.
      const [oldest = ''] = ids ?? [];
      await airframes().done('hawk', 'ada', { rule: 'capacity', battery: oldest });
      for (let n = 0; n < 200; n++) {
        now++;
        await tell('hawk', flight(20_000 + n, { battery: { id: `new-${n}` }, track: null }));
      }
      expect(await batteries('hawk')).to.have.length(201);
      expect(await db.queries.selectFrom('maintenance').selectAll().execute()).to.deep.equal([]);
      for (let n = 0; n < 60; n++)
        await db.queries
          .insertInto('flight_sums')
          .columns([
            'node',
            'battery',
            'flights',
            'armed_s',
            'airborne_s',
            'distance_m',
            'first_at',
            'last_at',
          ])
          .expression((eb) =>
            eb
              .selectFrom('flight_sums')
              .select(eb.val(`x-${String(n).padStart(2, '0')}`).as('node'))
              .select(['battery', 'flights', 'armed_s', 'airborne_s', 'distance_m', 'first_at', 'last_at'])
              .where('node', '=', 'hawk'),
          )
          .execute();
      const sizes: number[] = [];
      const seen: string[] = [];
      for (let after: string | null | undefined; after !== null; ) {
        const query = { limit: 1000, ...(after === undefined ? {} : { after }) };
        const { airframes: some, next }: Awaited<ReturnType<Airframes['page']>> = await airframes().page(
          query,
          null,
        );
        sizes.push(some.length);
        seen.push(...some.map(({ id }) => id));
        after = next;
      }
      expect(seen).to.have.length(62);
      expect(new Set(seen).size).to.equal(62);
      expect(sizes).to.deep.equal([34, 28]);
    });

    it('are given in pages, by node, battery and time, to those who may see their nodes', async () => {
      for (let n = 1; n <= 7; n++)
        await tell(
          n % 2 === 0 ? 'hawk' : 'kite',
          flight(n, { started_at: Math.ceil(n / 2) * DAY_MS, battery: { id: n > 4 ? 'pack-2' : 'pack-1' } }),
        );
      const all = (await flights().page(page, null)).flights.map(({ id }) => id);
      const paged: number[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
        const { flights: some, next }: Awaited<ReturnType<Flights['page']>> = await flights().page(
          query,
          null,
        );
        paged.push(...some.map(({ id }) => id));
        cursor = next;
      }
      expect(paged).to.deep.equal(all).and.to.have.length(7);
      const count = async (query: object, seen: readonly string[] | null = null): Promise<number> =>
        (await flights().page({ ...page, ...query }, seen)).flights.length;
      expect(await count({ node: 'hawk' })).to.equal(3);
      expect(await count({ battery: 'pack-2' })).to.equal(3);
      expect(await count({ from: 2 * DAY_MS, to: 3 * DAY_MS })).to.equal(2);
      expect(await count({}, ['kite'])).to.equal(4);
      expect(await count({ node: 'hawk' }, ['kite'])).to.equal(0);
      expect(await count({}, [])).to.equal(0);
      for (const id of ['0', '-1', 'x', '999999', '1e3'])
        expect(await flights().find(id, null).catch(String), id).to.include('no flight');
      const [hawk] = (await flights().page({ ...page, node: 'hawk' }, null)).flights;
      expect(await flights().find(String(hawk?.id), ['kite']).catch(String)).to.include('no flight');
    });

    it('of a node beyond its share lose the tracks of the oldest, then go themselves; others keep theirs, and the sums stay', async () => {
      const points = (count: number) =>
        Array.from({ length: count }, (_, n) => [n, 47.123456, 8.123456, 100.5]);
      const of = async (node: string) => {
        const rows = (await flights().page({ ...page, limit: 10_000, node }, null)).flights;
        const tracks = await db.queries
          .selectFrom('flight_tracks')
          .select(['id', sql<number>`octet_length(track)`.as('bytes')])
          .orderBy('id')
          .execute();
        const ids = new Set(rows.map(({ id }) => id));
        return {
          flights: rows.map(({ flight: id }) => Number(id.slice(16, -3))).toSorted((a, b) => a - b),
          tracks: tracks.filter(({ id }) => ids.has(id)),
          bytes: tracks.reduce((sum, { id, bytes }) => sum + (ids.has(id) ? bytes : 0), 0),
        };
      };
      await tell('quiet', flight(1));
      for (let n = 0; n < 250; n++) await tell('loud', flight(n, { track: points(1500) }));
      expect(await events.flights.prune()).to.deep.equal([{ node: 'loud', what: 'tracks' }]);
      expect(await events.flights.prune()).to.deep.equal([]);
      const loud = await of('loud');
      expect(loud.flights).to.have.length(250);
      expect(loud.bytes).to.be.within(7.5 * MIB, 8 * MIB);
      expect(loud.tracks[0]?.id).to.be.above(2);
      const newest = (await flights().page({ limit: 1, node: 'loud' }, null)).flights[0];
      expect((await flights().find(String(newest?.id), null)).track).not.to.equal(null);
      // A new process counts what is there.
      await start();
      for (let n = 250; n < 270; n++) await tell('loud', flight(n, { track: points(1500) }));
      expect(await events.flights.prune()).to.deep.equal([{ node: 'loud', what: 'tracks' }]);
      const wide = {
        track: points(2),
        findings: Array.from({ length: 50 }, () => ({ severity: 'info', text: 'x'.repeat(300), at_s: 1 })),
      };
      for (let n = 270; n < 400; n++) await tell('loud', flight(n, wide));
      expect(await events.flights.prune()).to.deep.equal([{ node: 'loud', what: 'flights' }]);
      expect(await events.flights.prune()).to.deep.equal([]);
      const less = await of('loud');
      expect(less.flights.at(0)).to.be.within(260, 300);
      expect(less.flights.at(-1)).to.equal(399);
      expect(less.flights).to.have.length(400 - (less.flights[0] ?? 0));
      expect(less.tracks).to.have.length(less.flights.length);
      const all = await db.queries.selectFrom('flight_tracks').select('id').execute();
      expect(all).to.have.length(less.tracks.length + 1);
      const [, sums] = (await airframes().page({ limit: 10 }, null)).airframes.toReversed();
      expect(sums).to.include({ id: 'loud', flights: 400 });
      expect((await of('quiet')).tracks).to.have.length(1);
    });

    it('have links to what was uploaded of them, whichever was told first; nothing else becomes one', async () => {
      const url = (file: string): string => `https://store.example/b/kite/tlogs/${file}`;
      const upload = (file: string, more: object = {}) => ({
        kind: 'tlogs',
        name: file,
        url: url(file),
        bytes: 1234,
        uploaded_at: 1,
        logged_at: null,
        ...more,
      });
      const say = async (node: string, ...details: readonly object[]): Promise<void> => {
        for (const detail of details)
          events.take(node, { stream: 's', seq: ++seq, at: 1, kind: 'upload', detail: { ...detail } });
        await events.commit();
      };
      const files = [
        { kind: 'tlogs', name: 'a.tlog' },
        { kind: 'tlogs', name: 'b.tlog' },
        { kind: 'recordings', name: 'a.mp4' },
      ];
      const log = (days: number, seconds: number, file: string) =>
        upload(file, { kind: 'flight-logs', logged_at: days * DAY_MS + seconds * 1000 });
      await say(
        'kite',
        upload('a.tlog'),
        upload('a.mp4', { kind: 'recordings', url: 'http://10.0.0.1:9000/b/a.mp4' }),
      );
      await say('hawk', upload('b.tlog'));
      await tell(
        'kite',
        flight(1, { files: [...files, { kind: 'tlogs', name: HOSTILE }, { kind: 'boot', name: 'x' }, 7] }),
        flight(2, { files: 'all' }),
      );
      await say('kite', log(1, 60, 'too-early.log'), log(1, 1810, 'own.log'), log(2, 7200, 'later.log'));
      const hostile = [
        upload('b.tlog', { url: 'javascript:alert(1)' }),
        upload('b.tlog', { url: 'https://user:word@store.example/' }),
        upload('b.tlog', { url: 'https://store.example/\u202e' }),
        upload('b.tlog', { url: `https://store.example/${'x'.repeat(2000)}` }),
        upload('b.tlog', { bytes: -1 }),
        upload('b.tlog', { kind: 'boot' }),
        upload(HOSTILE),
        upload(''),
        { kind: 'tlogs' },
      ];
      await say('kite', ...hostile);
      const of = async (node: string) => {
        const { flights: rows } = await flights().page({ ...page, node }, null);
        return Promise.all(
          rows.toReversed().map(async ({ id }) => (await flights().find(String(id), null)).files),
        );
      };
      expect(await of('kite')).to.deep.equal([
        [
          { kind: 'tlogs', name: 'a.tlog', url: url('a.tlog'), bytes: 1234 },
          { kind: 'tlogs', name: 'b.tlog', url: null, bytes: null },
          { kind: 'recordings', name: 'a.mp4', url: 'http://10.0.0.1:9000/b/a.mp4', bytes: 1234 },
          { kind: 'flight-logs', name: 'own.log', url: url('own.log'), bytes: 1234 },
        ],
        [],
      ]);
      expect(await db.queries.selectFrom('uploads').select('name').execute()).to.have.length(6);
      await say('kite', upload('b.tlog', { bytes: 7 }), upload('b.tlog', { bytes: 8 }));
      expect((await of('kite'))[0]?.[1]).to.deep.equal({
        kind: 'tlogs',
        name: 'b.tlog',
        url: url('b.tlog'),
        bytes: 8,
      });
      // Of a node that never stops, those that came last.
      now += 1;
      for (let from = 0; from < 6000; from += 1000) {
        now += 1;
        await say('hawk', ...Array.from({ length: 1000 }, (_, n) => upload(`${from + n}.tlog`)));
      }
      await events.flights.prune();
      const left = await db.queries.selectFrom('uploads').select('name').where('node', '=', 'hawk').execute();
      expect(left.length).to.be.within(4000, 5000);
      expect(left.map(({ name: each }) => each)).to.include('5999.tlog');
      const old = flights(1);
      await old.prune();
      clock += 3 * DAY_MS;
      now += 3 * DAY_MS;
      await old.prune();
      expect(await db.queries.selectFrom('uploads').selectAll().execute()).to.deep.equal([]);
    });

    it('outlive a clock that had jumped before any was deleted', async () => {
      await tell('kite', flight(1));
      now += 400 * DAY_MS;
      const old = flights(10);
      await old.prune();
      expect((await old.page(page, null)).flights).to.have.length(1);
    });

    it('are deleted after their time, which a clock that jumped does not shorten; the sums stay', async () => {
      const old = flights(10);
      await old.prune();
      await tell('kite', flight(1));
      now += 400 * DAY_MS; // the clock jumps
      clock += HOUR_MS;
      await old.prune();
      expect((await old.page(page, null)).flights).to.have.length(1);
      now -= 400 * DAY_MS - 11 * DAY_MS;
      clock += 11 * DAY_MS;
      await old.prune();
      await flights(null).prune();
      expect((await old.page(page, null)).flights).to.have.length(0);
      expect(await db.queries.selectFrom('flight_tracks').selectAll().execute()).to.deep.equal([]);
      expect((await airframes().page({ limit: 1 }, null)).airframes[0]).to.include({ flights: 1 });
      await tell('kite', flight(2));
      expect((await airframes().page({ limit: 1 }, null)).airframes[0]).to.include({ flights: 2 });
    });

    it('of a hub that shall keep them for a shorter time go at once, however long the time was, in turns; a clock that jumped adds nothing', async () => {
      const run = async (keepDays: number | null): Promise<number> => {
        const kept = flights(keepDays); // a process of its own
        await kept.prune();
        clock += HOUR_MS;
        now += HOUR_MS;
        while (await kept.prune()) clock += 1;
        return (await kept.page({ limit: 1000 }, null)).flights.length;
      };
      const live = flights(1000);
      for (let day = 0; day < 100; day++) {
        await tell('kite', flight(day));
        now += DAY_MS;
        clock += DAY_MS;
        await live.prune();
      }
      clock += 100 * DAY_MS; // it runs on
      now += 100 * DAY_MS;
      await live.prune();
      expect(await run(1000)).to.equal(100);
      expect(await run(195)).to.equal(94);
      now += 400 * DAY_MS; // the clock jumps while the hub is off
      expect(await run(150)).to.equal(49);
      now -= 400 * DAY_MS;
      expect(await run(null)).to.equal(49);
      await tell('kite', ...Array.from({ length: 2500 }, (_, n) => flight(1000 + n, { track: null })));
      const off = flights(1);
      await off.prune();
      clock += 3 * DAY_MS;
      now += 3 * DAY_MS;
      const turns: boolean[] = [];
      do turns.push(await off.prune());
      while (turns.at(-1) === true);
      expect(turns).to.deep.equal([true, true, false]);
      expect((await off.page(page, null)).flights).to.have.length(0);
    });

    it('make maintenance due so many days after the first was flown, whenever the hub hears of it', async () => {
      now = Date.UTC(2026, 10, 28);
      const ago = (days: number, more: object = {}) =>
        flight(days, { started_at: now - days * DAY_MS, ended_at: now - days * DAY_MS, ...more });
      const left = async (node: string) =>
        (await airframes().page({ limit: 10 }, [node])).airframes[0]?.maintenance[0]?.days_left;
      // It was away: the newest is not the first of which the hub hears.
      await tell('kite', ago(3));
      expect(await left('kite')).to.equal(97);
      await tell('kite', ago(90), ago(99), ago(40));
      expect(await left('kite')).to.equal(1);
      now += 2 * DAY_MS;
      expect(await left('kite')).to.equal(-1);
      // A clock that was never set, or is ahead, says nothing.
      await tell('hawk', flight(1, { started_at: Date.UTC(1980, 0, 6) }));
      await tell('owl', ago(-400));
      expect([await left('hawk'), await left('owl')]).to.deep.equal([100, 100]);
      now += 10 * DAY_MS;
      await tell('hawk', ago(1));
      expect(await left('hawk')).to.equal(90);
      expect(
        (await airframes().done('kite', 'ada', { rule: 'propellers' })).maintenance[0]?.days_left,
      ).to.equal(100);
      await tell('kite', ago(300));
      expect(await left('kite'), 'done since').to.equal(100);
    });

    it('make maintenance due by hours, flights and days, until somebody has done it', async () => {
      const due = async () => {
        const [airframe] = (await airframes().page({ limit: 1 }, null)).airframes;
        return airframe?.maintenance.map((each) => [each.rule, each.battery, each.due]);
      };
      await tell('kite', flight(1, { battery: { id: 'pack-1' } }));
      expect(await due()).to.deep.equal([
        ['propellers', null, false],
        ['capacity', 'pack-1', false],
      ]);
      await tell('kite', flight(2, { battery: { id: 'pack-1' } }));
      expect(await due()).to.deep.equal([
        ['propellers', null, true],
        ['capacity', 'pack-1', true],
      ]);
      const done = await airframes().done('kite', 'ada', { rule: 'propellers', note: 'new ones' });
      expect(done.maintenance[0]).to.deep.include({
        due: false,
        hours_left: 1,
        days_left: 100,
        done_by: 'ada',
        note: 'new ones',
        done_at: now,
      });
      await airframes().done('kite', 'ada', { rule: 'capacity', battery: 'pack-1' });
      expect((await due())?.map((each) => each[2])).to.deep.equal([false, false]);
      now += 101 * DAY_MS;
      expect((await due())?.map((each) => each[2])).to.deep.equal([true, false]);
      for (const [node, request, words] of [
        ['kite', { rule: 'capacity' }, 'no rule'],
        ['kite', { rule: 'wings' }, 'no rule'],
        ['kite', { rule: 'capacity', battery: 'pack-9' }, 'Nothing is known'],
        ['hawk', { rule: 'propellers' }, 'Nothing is known'],
      ] as const)
        expect(await airframes().done(node, 'ada', request).catch(String)).to.include(words);
    });
  });

  describe(`flights at the hub, ${name}${noBroker === null ? '' : ` (${noBroker})`}`, function () {
    this.timeout(120_000);
    let databases: Databases;
    let hub: TestHub;
    let kite: EnrolledNode;
    let client: MqttClient;
    before(async function () {
      if (missing !== null || noBroker !== null) return this.skip();
      databases = await Databases.of(engine);
      hub = await TestHub.init(...(await databases.flags()));
      await appendFile(join(hub.folder, 'hub.yaml'), 'maintenance:\n  - { name: propellers, hours: 100 }\n');
      await hub.serve();
      kite = await hub.enroll('kite');
      await hub.enroll('hawk');
      client = await hub.connect(kite);
    });
    after(async () => {
      await client?.endAsync();
      await hub?.stop();
      await databases?.end();
    });

    it('are a thousand of one node, told twice, and one of them is read with its track', async () => {
      const topic = topics.told(kite.enrolled.fleet, 'kite', 'event');
      let seq = 0;
      for (let n = 1; n <= 1000; n++)
        for (const detail of n % 100 === 0 ? [flight(n), flight(n)] : [flight(n)])
          await client.publishAsync(
            topic,
            JSON.stringify({ stream: 's', seq: ++seq, at: 1, kind: 'flight', detail }),
            { qos: 1 },
          );
      const { body } = await askAgain(
        'all are there',
        async () => hub.call('GET', '/v1/flights?limit=1000'),
        (answer) => (answer.body['flights'] as readonly unknown[]).length === 1000,
      );
      expect(body['next']).to.equal(null);
      const [newest] = body['flights'] as readonly { id: number }[];
      const one = await hub.call('GET', `/v1/flights/${newest?.id}`);
      expect(one.body).to.deep.include({ node: 'kite', vehicle: 'ArduPilot copter 4.6' });
      expect(one.body['track']).to.include({ type: 'Feature' });
      const frames = await hub.call('GET', '/v1/airframes');
      expect((frames.body['airframes'] as readonly object[])[0]).to.deep.include({
        id: 'kite',
        name: 'name of kite',
        flights: 1000,
        hours: 500,
      });
    });

    it('are a table for an authority, in which no text is a formula', async () => {
      const topic = topics.told(kite.enrolled.fleet, 'kite', 'event');
      const detail = flight(2000, { pilots: ['=HYPERLINK("http://x")', '+1', 'a,b "c"'] });
      await client.publishAsync(
        topic,
        JSON.stringify({ stream: 's', seq: 5000, at: 1, kind: 'flight', detail }),
        { qos: 1 },
      );
      const answer = await askAgain(
        'it is in the table',
        async () => hub.call('GET', '/v1/flights.csv'),
        ({ body }) => String(body['text']).includes('HYPERLINK'),
      );
      expect(answer.headers.get('content-type')).to.equal('text/csv; charset=utf-8');
      expect(answer.headers.get('content-disposition')).to.include('flights.csv');
      const lines = String(answer.body['text']).split('\r\n');
      expect(lines).to.have.length(1003);
      expect(lines[0]).to.match(/^id,node,flight,started_at,.*,worst_finding,max_speed_mps$/);
      expect(lines[1])
        .to.match(/^\d+,kite,20260101T000000\.2000Z-1,1975-06-24T00:00:00\.000Z,/)
        .and.to.include(`,"'=HYPERLINK(""http://x"");' +1; a,b ""c""",1,warning`);
      const some = await hub.call('GET', `/v1/flights.csv?from=${1000 * DAY_MS}&node=kite`);
      expect(String(some.body['text']).split('\r\n')).to.have.length(4);
    });

    it('are printed on the command line, the newest or all of them', async () => {
      const env = { SVC_HUB_CREDENTIAL: hub.operator };
      const { stdout } = await hub.command(['flights'], env);
      const lines = stdout.trimEnd().split('\n');
      expect(lines).to.have.length(101);
      expect(lines[0]).to.match(/^STARTED \(UTC\) +NODE +MIN +KM +HEIGHT +FINDINGS$/);
      expect(lines[1]).to.match(/^1975-06-24 00:00 +kite +30\.0 +1\.23 +50 +warning$/);
      expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(80);
      const all = await hub.command(['flights', '--csv', '--node', 'kite'], env);
      expect(all.stdout.split('\r\n')).to.have.length(1003);
      expect((await hub.command(['flights', '--node', 'hawk'], env)).stdout).to.equal('no flights\n');
      const wrong = await failing(hub.command(['flights'], { SVC_HUB_CREDENTIAL: 'svc_op_x_y' }));
      expect(wrong.stderr).to.include('This credential is wrong');
      expect((await failing(hub.command(['flights']))).code).to.equal(2);
    });

    it('go when the hub begins again with a shorter time', async () => {
      const count = async (): Promise<number> =>
        ((await hub.call('GET', '/v1/flights?limit=1000')).body['flights'] as readonly unknown[]).length;
      await hub.sql(
        `UPDATE flights SET received_at = received_at - ${40 * DAY_MS} WHERE started_at < ${500 * DAY_MS}`,
      );
      expect(await count()).to.equal(1000);
      await hub.kill('SIGTERM');
      const file = join(hub.folder, 'hub.yaml');
      const config = await readFile(file, 'utf8');
      await writeFile(file, config.replace('keep_days: null', 'keep_days: 30'));
      await hub.serve();
      await askAgain('the old ones go', count, (left) => left > 0 && left < 600);
      client = await hub.connect(kite);
    });

    it('are for those who see the node, and maintenance is noted by those who may', async () => {
      const as = async (scopes: readonly string[], nodes: readonly string[]) =>
        String(
          (await hub.call('POST', '/v1/operators', { body: { name: 'eve', scopes, nodes } })).body[
            'credential'
          ],
        );
      const [hawk, reader] = [await as(['read', 'admin'], ['hawk']), await as(['read'], ['kite'])];
      const [newest] = (await hub.call('GET', '/v1/flights?limit=1')).body['flights'] as { id: number }[];
      expect((await hub.call('GET', '/v1/flights', { credential: hawk })).body['flights']).to.deep.equal([]);
      expect((await hub.call('GET', `/v1/flights/${newest?.id}`, { credential: hawk })).status).to.equal(404);
      expect((await hub.call('GET', '/v1/airframes', { credential: hawk })).body['airframes']).to.deep.equal(
        [],
      );
      expect(
        String((await hub.call('GET', '/v1/flights.csv', { credential: hawk })).body['text']).split('\r\n'),
      ).to.have.length(2);
      const path = '/v1/airframes/kite/maintenance';
      const body = { rule: 'propellers' };
      expect((await hub.call('POST', path, { credential: hawk, body })).status).to.equal(404);
      expect((await hub.call('POST', path, { credential: reader, body })).status).to.equal(403);
      expect((await hub.call('POST', path, { body: { rule: 'wings' } })).status).to.equal(422);
      const done = await hub.call('POST', path, { body });
      expect(done.status, JSON.stringify(done.body)).to.equal(201);
      expect((done.body['maintenance'] as readonly object[])[0]).to.include({ due: false, hours_left: 100 });
      // Gone from the fleet, its flights stay for those who have the whole of it.
      expect((await hub.call('DELETE', '/v1/nodes/kite')).status).to.equal(200);
      const list = async (credential: string) =>
        (await hub.call('GET', '/v1/flights?limit=2', { credential })).body['flights'];
      expect(await list(reader)).to.deep.equal([]);
      expect(await list(hub.operator)).to.have.length(2);
      expect((await hub.call('GET', '/v1/flights?cursor=x')).status).to.equal(422);
    });
  });
}
