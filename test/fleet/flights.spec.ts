import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { flightDetail } from '../../residual/app/flights/flight-detail.ts';
import { FlightTeller } from '../../residual/app/flights/flight-teller.ts';
import { tlogFiles } from '../../residual/app/kept-logs.ts';
import { FlightsInLog } from '../../residual/app/reports/flights-in-log.ts';
import { Reporter } from '../../residual/app/reports/reporter.ts';
import { type FlightDetail, MAX_FLIGHT_BYTES, MAX_TRACK_POINTS } from '../../shared/fleet/flight.ts';
import type { Logger } from '../../shared/process/logger.ts';
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

const told = { log: LOG, pilots: null, withTrack: true };

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
    const details = flights.map((each, index) => flightDetail(each, { ...told, index }));
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
      const detail = flightDetail(flight, { ...told, index: 0 });
      expect(Buffer.byteLength(JSON.stringify(detail))).to.be.at.most(MAX_FLIGHT_BYTES);
      expect(detail.track?.length).to.be.within(500, MAX_TRACK_POINTS);
      expect(detail.track?.[0]?.[0]).to.equal(1);
      expect(detail.track?.at(-1)?.[0]).to.be.above(86_300);
      expect(flightDetail(flight, { ...told, index: 0, withTrack: false }).track).to.equal(null);
    });
});

describe('flights that a node writes down for its fleet', () => {
  let folder: string;
  let paths: { flights: string; flightsTold: string; fleet: string; tlogs: string };
  let isDisarmed = true;
  let writing: string | null = null;
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
    teller = open();
  });
  afterEach(async () => {
    await teller.stop();
    await removeDir(folder);
  });

  const open = (withTracks = true): FlightTeller =>
    new FlightTeller({
      paths,
      tlogs: tlogFiles(paths),
      reporter: new Reporter(),
      withTracks,
      isDisarmed: () => isDisarmed,
      writing: () => writing,
      pilots: () => ['ada'],
      log: QUIET,
    });
  const files = async (): Promise<readonly string[]> => readdir(paths.flights).catch(() => []);
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
