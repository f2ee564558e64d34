import {
  copyFile,
  mkdir,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { FleetOutbox } from '../../residual/app/fleet-outbox.ts';
import { flightDetail } from '../../residual/app/flights/flight-detail.ts';
import { FlightTeller } from '../../residual/app/flights/flight-teller.ts';
import { tlogFiles } from '../../residual/app/kept-logs.ts';
import { Reporter } from '../../residual/app/reports/reporter.ts';
import { type FlightDetail, MAX_FLIGHT_BYTES, MAX_TRACK_POINTS } from '../../shared/fleet/flight.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { FlightsInLog } from '../../shared/reports/flights-in-log.ts';
import { askAgain } from '../support/ask-again.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** Of a flight of ArduPilot's simulated VTOL plane. */
const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);
const LOG = '20260101T000000.000Z.tlog';
const QUIET = { warn: () => undefined } as unknown as Logger;

/** Facts of a flight: armed at `at` for so many seconds, with a position a second. */
function fly(log: FlightsInLog, at: number, seconds: number, step = 1e-5): void {
  log.take(at, { kind: 'armed', armed: true });
  log.take(at, { kind: 'landed', landed: true });
  for (let s = 1; s < seconds; s++) {
    log.take(at + s, { kind: 'position', lat: 47 + s * step, lon: 8, alt: 400 + s, height: 10 });
    if (s === 10) log.take(at + s, { kind: 'landed', landed: false });
    if (s === seconds - 10) log.take(at + s, { kind: 'landed', landed: true });
  }
  log.take(at + seconds, { kind: 'armed', armed: false });
}

const STAMP = 8;
const YEARS_S = 20 * 365 * 24 * 3600;

/** Its frames with their stamps, one after the other. */
function recordsOf(tlog: Buffer): readonly Buffer[] {
  const records: Buffer[] = [];
  for (let at = 0; at + STAMP + 2 < tlog.length; ) {
    const payload = tlog.readUInt8(at + STAMP + 1);
    const isSigned = (tlog.readUInt8(at + STAMP + 2) & 1) === 1;
    const frame = tlog[at + STAMP] === 0xfe ? payload + 8 : payload + (isSigned ? 25 : 12);
    records.push(tlog.subarray(at, at + STAMP + frame));
    at += STAMP + frame;
  }
  return records;
}

/** With a clock that is so much later. */
function later(records: readonly Buffer[], seconds: number): Buffer {
  return Buffer.concat(
    records.map((record) => {
      const stamped = Buffer.from(record);
      stamped.writeBigUInt64BE(record.readBigUInt64BE(0) + BigInt(Math.round(seconds * 1e6)), 0);
      return stamped;
    }),
  );
}

/** As svc-link names a log that begins so. */
function nameOf(log: Buffer): string {
  const begun = new Date(Number(log.readBigUInt64BE(0) / 1000n));
  return `${begun.toISOString().replaceAll(/[-:]/g, '')}.tlog`;
}

const told = { log: LOG, logs: [LOG], recordings: [], pilots: null, withTrack: true };

describe('flights of a telemetry log', () => {
  it('are each from arming to disarming, with what was said before', () => {
    const log = new FlightsInLog();
    log.take(1000, { kind: 'vehicle', text: 'ArduPilot copter 4.6', family: 'copter' });
    log.take(1000, { kind: 'mode', mode: 'GUIDED' });
    fly(log, 1_700_000_000, 60);
    fly(log, 1_700_000_500, 100);
    log.take(1_700_000_900, { kind: 'armed', armed: true });
    log.take(1_700_000_910, { kind: 'voltage', volts: 12 });
    const flights = log.flights();
    expect(flights.map(({ isOver }) => isOver)).to.deep.equal([true, true, false]);
    const details = flights.map((each) => flightDetail(each, told));
    expect(details.map(({ flight }) => flight)).to.deep.equal(
      [1, 2, 3].map((n) => `20260101T000000.000Z-${n}`),
    );
    expect(details[0]).to.deep.include({
      started_at: 1_700_000_000_000,
      ended_at: 1_700_000_060_000,
      armed_s: 60,
      airborne_s: 40,
      vehicle: 'ArduPilot copter 4.6',
      battery: { used_mah: null, start_v: null, end_v: null },
      max_speed_ms: null,
    });
    expect(details[0]?.modes).to.deep.equal([{ name: 'GUIDED', from_s: 0, to_s: 60 }]);
    expect(details[2]?.battery.start_v).to.equal(12);
    expect(details[2]).to.deep.include({ airborne_s: 0, track: null });
  });

  for (const [what, step] of [
    ['that stands still', 0],
    ['that flies', 1e-5],
  ] as const)
    it(`a day of one ${what} fits into an event, from its first point to its last`, () => {
      const log = new FlightsInLog();
      fly(log, 1_700_000_000, 24 * 3600, step);
      const [flight] = log.flights();
      if (flight === undefined) throw new Error('no flight');
      const detail = flightDetail(flight, told);
      expect(Buffer.byteLength(JSON.stringify(detail))).to.be.at.most(MAX_FLIGHT_BYTES);
      expect(detail.track?.length).to.be.within(500, MAX_TRACK_POINTS);
      expect(detail.track?.[0]?.[0]).to.equal(1);
      expect(detail.track?.at(-1)?.[0]).to.be.above(86_300);
      expect(flightDetail(flight, { ...told, withTrack: false }).track).to.equal(null);
    });
});

describe('a flight in several logs', () => {
  const flown = (log: FlightsInLog, from: number, to: number, uptime: number, clock: number): void => {
    for (let s = from; s < to; s++) {
      log.take(clock + s, { kind: 'armed', armed: true });
      log.take(clock + s, { kind: 'uptime', s: uptime + s });
      log.take(clock + s, { kind: 'position', lat: 47 + s * 1e-5, lon: 8, alt: 400, height: 10 });
    }
  };

  for (const [what, begin, goesOn] of [
    ['goes on where no clock was set', { at: 1_000_060, s: 160 }, true],
    ['goes on after a gap', { at: 1_000_110, s: 210 }, true],
    ['ends where too long is missing', { at: 1_000_160, s: 260 }, false],
    ['goes on with a clock that was set forward', { at: 1_700_000_000, s: 160.2 }, true],
    ['goes on with a clock that was set back', { at: 1000, s: 160 }, true],
    ['ends where the vehicle was switched on anew', { at: 1_000_060, s: 2 }, false],
    ['ends where it may have been switched on anew', { at: 1_000_500, s: 180 }, false],
    ['ends where the vehicle does not say its time', null, false],
  ] as const)
    it(what, () => {
      const log = new FlightsInLog();
      flown(log, 0, 60, 100, 1_000_000);
      expect(log.goesOn(begin)).to.equal(goesOn);
    });

  it('is one of each of them; those that follow are others; all have the newest clock', () => {
    const log = new FlightsInLog();
    fly(log, 900_000, 60);
    flown(log, 0, 60, 100, 1_000_000);
    const [clock, again] = [1_700_000_000 - 60, 1_800_000_000 - 80];
    expect(log.goesOn({ at: clock + 60, s: 160 })).to.equal(true);
    flown(log, 60, 80, 100, clock);
    expect(log.goesOn({ at: again + 80, s: 180 })).to.equal(true);
    flown(log, 80, 100, 100, again);
    log.take(again + 100, { kind: 'armed', armed: false });
    fly(log, again + 500, 30);
    const flights = log.flights();
    expect(log.counts).to.deep.equal([2, 1, 2]);
    expect(flights.map(({ log: at, index }) => [at, index])).to.deep.equal([
      [0, 0],
      [0, 1],
      [2, 1],
    ]);
    const [, joined, last] = flights.map((each) => flightDetail(each, told));
    expect(joined).to.include({ armed_s: 100, started_at: again * 1000, ended_at: (again + 100) * 1000 });
    expect(joined?.track).to.have.length(100);
    expect(joined?.distance_m).to.be.within(109, 112);
    expect(last).to.include({ armed_s: 30, started_at: (again + 500) * 1000 });
  });

  it('that begins disarmed has nothing of the flight before', () => {
    const log = new FlightsInLog();
    flown(log, 0, 60, 100, 1_000_000);
    expect(log.goesOn({ at: 5_000_000, s: 160 })).to.equal(true);
    log.take(5_000_000, { kind: 'armed', armed: false });
    fly(log, 5_000_100, 30);
    expect(log.flights().map(({ log: at, index, isOver }) => [at, index, isOver])).to.deep.equal([
      [0, 0, true],
      [1, 0, true],
    ]);
    expect(log.counts).to.deep.equal([1, 1]);
  });
});

describe('flights that a node writes down for its fleet', () => {
  let folder: string;
  let paths: { flights: string; flightsTold: string; fleet: string; tlogs: string };
  let isDisarmed = true;
  let writing: string | null = null;
  let before: ReadonlyMap<string, string> = new Map();
  let teller: FlightTeller;

  beforeEach(async () => {
    folder = await tempDir();
    paths = {
      flights: join(folder, 'flights'),
      flightsTold: join(folder, 'flights-told.json'),
      fleet: join(folder, 'fleet.json'),
      tlogs: join(folder, 'tlogs'),
    };
    await mkdir(paths.tlogs);
    await writeFile(paths.fleet, '{}');
    isDisarmed = true;
    writing = null;
    before = new Map();
    teller = open();
  });
  afterEach(async () => {
    await teller.stop();
    await removeDir(folder);
  });

  const open = (withTracks = true): FlightTeller =>
    new FlightTeller({
      paths,
      outbox: new FleetOutbox(paths),
      tlogs: tlogFiles(paths),
      reporter: new Reporter(),
      withTracks,
      isDisarmed: () => isDisarmed,
      writing: () => writing,
      before: (name) => before.get(name) ?? null,
      seen: () => ({ pilots: ['ada'], recordings: ['20260101T000000.mp4'] }),
      log: QUIET,
    });
  const files = async (): Promise<readonly string[]> =>
    (await readdir(paths.flights).catch(() => [])).filter((name) => !name.startsWith('.')); // being written
  const handled = async (name: string): Promise<unknown> =>
    askAgain(
      `${name} was read`,
      async () => {
        teller.look();
        return readFile(paths.flightsTold, 'utf8').catch(() => '');
      },
      (text) => text.includes(name),
    );
  const read = async (name: string): Promise<FlightDetail> =>
    JSON.parse(await readFile(join(paths.flights, name), 'utf8')) as FlightDetail;

  it('are told once, also by the next process, and again with the same name where nobody knows', async () => {
    await copyFile(VTOL, join(paths.tlogs, LOG));
    await teller.start();
    await handled(LOG);
    const names = await files();
    expect(names).to.have.length.above(0);
    const first = await read(names[0] ?? '');
    expect(first).to.include({ flight: '20260101T000000.000Z-1', log: LOG, pilots: null });
    expect(first.track).to.have.length.above(10);
    expect(first.armed_s).to.be.above(5);
    await rm(join(paths.flights, names[0] ?? ''));
    await teller.stop();
    teller = open();
    await teller.start();
    await copyFile(VTOL, join(paths.tlogs, '20260102T000000.000Z.tlog'));
    await handled('20260102');
    expect(await files()).not.to.include(names[0]);
    await teller.stop();
    await writeFile(paths.flightsTold, 'torn');
    teller = open(false);
    await teller.start();
    await handled('20260102');
    expect(await files()).to.include(names[0]);
    expect((await read(names[0] ?? '')).track).to.equal(null);
  });

  it('of a node whose power was cut in flight end with the log', async () => {
    await copyFile(VTOL, join(paths.tlogs, LOG));
    await truncate(join(paths.tlogs, LOG), Math.floor((await stat(VTOL)).size * 0.6));
    await teller.start();
    await handled(LOG);
    expect(await files()).to.have.length(1);
  });

  it('of a log that is still written to are told when they are over, with who flew', async () => {
    await copyFile(VTOL, join(paths.tlogs, LOG));
    writing = LOG;
    await teller.start();
    await handled(LOG);
    const name = (await files()).at(-1);
    if (name !== undefined) expect((await read(name)).pilots).to.deep.equal(['ada']);
  });

  describe('in several logs', () => {
    let records: readonly Buffer[];
    let whole: FlightDetail;
    beforeEach(async () => {
      records = recordsOf(await readFile(VTOL));
      const [flight] = (await new Reporter().flights([await openFile(VTOL)])).flights;
      if (flight === undefined) throw new Error('no flight');
      whole = flightDetail(flight, told);
    });
    const part = (from: number, to: number, seconds = 0): Buffer =>
      later(records.slice(Math.floor(records.length * from), Math.floor(records.length * to)), seconds);
    const put = async (log: Buffer): Promise<string> => {
      await writeFile(join(paths.tlogs, nameOf(log)), log);
      return nameOf(log);
    };
    const toldOf = async (names: readonly string[]): Promise<readonly FlightDetail[]> => {
      for (const name of names) await handled(name);
      return Promise.all((await files()).map(read));
    };

    for (const [what, seconds, shift] of [
      ['are one, with the clock that was set forward in flight', [0, YEARS_S], YEARS_S],
      ['are one, with the clock that was set back in flight', [0, -YEARS_S], -YEARS_S],
      ['are one, with a clock that was set again and again', [0, YEARS_S, -YEARS_S, 3600], 3600],
      ['are one, where a log was too long', [0, 0, 0], 0],
    ] as const)
      it(what, async () => {
        const names: string[] = [];
        for (const [index, each] of seconds.entries())
          names.push(await put(part(index / seconds.length, (index + 1) / seconds.length, each)));
        before = new Map(names.slice(1).map((name, index) => [name, names[index] ?? '']));
        writing = names.at(-1) ?? null;
        await teller.start();
        const [flight, ...others] = await toldOf(names);
        expect(others).to.deep.equal([]);
        expect(flight).to.include({ flight: `${names[0]?.replace('.tlog', '')}-1`, log: names[0] });
        expect(flight?.pilots).to.deep.equal(['ada']);
        expect(flight?.files).to.deep.equal([
          ...names.map((name) => ({ kind: 'tlogs', name })),
          { kind: 'recordings', name: '20260101T000000.mp4' },
        ]);
        // The radio of this flight delays frames by up to a second; where a clock was set, that counts.
        const exact = 0.2 + seconds.filter((each, index) => index > 0 && each !== seconds[index - 1]).length;
        expect(flight?.armed_s).to.be.closeTo(whole.armed_s, exact);
        expect((flight?.started_at ?? 0) / 1000).to.be.closeTo(whole.started_at / 1000 + shift, exact);
        const lasted = (flight?.ended_at ?? 0) - (flight?.started_at ?? 0);
        expect(lasted / 1000).to.be.closeTo(flight?.armed_s ?? 0, 0.1);
        expect(flight?.distance_m).to.be.closeTo(whole.distance_m ?? 0, 1);
        for (const figure of ['max_height_m', 'max_speed_ms', 'vehicle'] as const)
          expect(flight?.[figure], figure).to.equal(whole[figure]);
        expect(flight?.battery).to.deep.equal(whole.battery);
        expect(flight?.modes.map(({ name }) => name)).to.deep.equal(whole.modes.map(({ name }) => name));
        expect(flight?.track).to.have.length(whole.track?.length ?? 0);
        const times = flight?.track?.map(([s]) => s) ?? [];
        expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
        // Nor does another process tell it again.
        await rm(paths.flights, { recursive: true });
        await teller.stop();
        teller = open();
        await teller.start();
        await put(later(records, 5 * YEARS_S));
        await handled(nameOf(later(records, 5 * YEARS_S)));
        expect(await files()).to.have.length(1);
      });

    it('are two, where the vehicle was switched on anew', async () => {
      const names = [await put(part(0, 0.6)), await put(part(0, 1, 600))];
      await teller.start();
      const flights = await toldOf(names);
      expect(flights.map(({ log }) => log)).to.deep.equal(names);
      expect(flights[1]?.armed_s).to.be.closeTo(whole.armed_s, 0.5);
    });

    it('are told when they are over, once', async () => {
      const names = [await put(part(0, 0.5)), await put(part(0.5, 0.8, YEARS_S))];
      [, writing = null] = names;
      await teller.start();
      await toldOf(names);
      expect(await files()).to.deep.equal([]);
      await writeFile(join(paths.tlogs, writing ?? ''), part(0.5, 1, YEARS_S));
      const [flight] = await askAgain(
        'it is told',
        async () => {
          teller.look();
          return files();
        },
        (found) => found.length > 0,
      );
      expect((await read(flight ?? '')).armed_s).to.be.closeTo(whole.armed_s, 0.5);
      teller.look();
      await teller.stop();
      expect(await files()).to.have.length(1);
    });
  });

  it('are none of a node without a fleet, nor while it is armed, nor of what is no log', async () => {
    await rm(paths.fleet);
    await copyFile(VTOL, join(paths.tlogs, LOG));
    await teller.start();
    await handled(LOG);
    expect(await files()).to.deep.equal([]);
    await writeFile(paths.fleet, '{}');
    await writeFile(join(paths.tlogs, '20260103T000000.000Z.tlog'), Buffer.alloc(5000, 7));
    await handled('20260103');
    expect(await files()).to.deep.equal([]);
    isDisarmed = false;
    await copyFile(VTOL, join(paths.tlogs, '20260104T000000.000Z.tlog'));
    teller.look();
    await teller.stop();
    expect(await readFile(paths.flightsTold, 'utf8')).not.to.include('20260104');
  });
});
