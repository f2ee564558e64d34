import { setTimeout as wait } from 'node:timers/promises';
import { memberOf } from '../../../shared/member.ts';
import { commandAnswer } from '../../../shared/schemas/command.ts';
import { telemetry } from '../../../shared/schemas/telemetry.ts';
import { jsonOf, must, mustFit, mustRefuse } from '../answers.ts';
import { Failed, type Report } from '../report.ts';
import type { Target } from '../target.ts';

const READY_MS = 120_000;
const FLOWN_S = 120;
const TOLD_MS = 20_000;
const POLL_MS = 250;
const HEIGHT_M = 10;
/** Degrees of latitude, some 22 m. */
const NORTH = 0.0002;
const ARDUPILOT = 3;

interface VehicleLook {
  readonly armed: unknown;
  readonly autopilot: unknown;
  readonly lat: number;
  readonly lon: number;
  /** m above home. */
  readonly height: number;
  readonly fix: number;
  readonly estimate: unknown;
}

/** A short flight over the API: up, a few metres north, down. Whatever goes wrong, it ends on the ground. */
export async function checkFlight(report: Report, target: Target): Promise<void> {
  const flight = new Flight(target);
  const start = await flight.until(
    'it knows where it is',
    ({ lat, fix, estimate }) => Number.isFinite(lat) && fix >= 3 && estimate !== false,
    READY_MS,
  );
  must(start.armed === false, 'It is armed already.');
  try {
    const armed = await report.check('flight: arms, and telemetry says so', async () => {
      if (start.autopilot === ARDUPILOT) await flight.accepted({ cmd: 'mode', args: ['GUIDED'] });
      await flight.arm();
      await flight.until('it is armed', (seen) => seen.armed === true, TOLD_MS);
    });
    if (!armed) return;
    await report.check('flight: a parameter is refused while it is armed', async () => flight.guarded());
    await report.check('flight: takes off, and telemetry shows the height', async () => {
      await flight.done({ cmd: 'takeoff', args: [HEIGHT_M] });
      await flight.until('it is up', ({ height }) => Math.abs(height - HEIGHT_M) < 3, TOLD_MS);
    });
    await report.check('flight: goes to a place, and telemetry shows it there', async () => {
      const lat = start.lat + NORTH;
      await flight.done({ cmd: 'goto', args: [lat, start.lon, HEIGHT_M] });
      await flight.until('it is there', (seen) => Math.abs(seen.lat - lat) < 5e-5, TOLD_MS);
    });
    await report.check('flight: lands and disarms, and telemetry says so', async () => {
      await flight.done({ cmd: 'land', args: [] });
      await flight.until('it is disarmed', (seen) => seen.armed === false, FLOWN_S * 1000);
    });
  } finally {
    if ((await flight.seen()).armed !== false) await flight.accepted({ cmd: 'land', args: [] });
  }
}

interface Command {
  readonly cmd: string;
  readonly args: readonly (string | number)[];
}

class Flight {
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
  }

  async seen(): Promise<VehicleLook> {
    const body = jsonOf(await this.#target.ask({ target: '/api/telemetry' }));
    mustFit(body, telemetry);
    const position = memberOf(body, 'position');
    return {
      armed: memberOf(body, 'armed'),
      autopilot: memberOf(body, 'autopilot'),
      lat: numberIn(position, 'lat'),
      lon: numberIn(position, 'lon'),
      height: numberIn(position, 'alt_rel'),
      fix: numberIn(memberOf(body, 'gps'), 'fix_type'),
      estimate: memberOf(memberOf(body, 'ekf'), 'ok'),
    };
  }

  /** @throws Failed with what was seen last */
  async until(what: string, fits: (seen: VehicleLook) => boolean, ms: number): Promise<VehicleLook> {
    const end = performance.now() + ms;
    for (;;) {
      const seen = await this.seen();
      if (fits(seen)) return seen;
      if (performance.now() > end)
        throw new Failed(`Not within ${ms / 1000} s that ${what}: ${JSON.stringify(seen)}.`);
      await wait(POLL_MS);
    }
  }

  /** Again while the vehicle has reasons against it. */
  async arm(): Promise<void> {
    const end = performance.now() + READY_MS;
    for (;;) {
      const answer = await this.#command({ cmd: 'arm', args: [] });
      if (memberOf(answer, 'status') === 'accepted') return;
      if (performance.now() > end) throw new Failed(`It does not arm: ${JSON.stringify(answer)}.`);
      await wait(1000);
    }
  }

  async accepted(command: Command): Promise<void> {
    const answer = await this.#command(command);
    must(memberOf(answer, 'status') === 'accepted', `${command.cmd}: ${JSON.stringify(answer)}.`);
  }

  /** Waits until it has come to its end. */
  async done(command: Command): Promise<void> {
    const answer = await this.#command({ ...command, wait: true, wait_s: FLOWN_S });
    must(memberOf(answer, 'done') === true, `${command.cmd}: ${JSON.stringify(answer)}.`);
  }

  /** Sends a parameter the value that it has. */
  async guarded(): Promise<void> {
    const params = memberOf(jsonOf(await this.#target.ask({ target: '/api/params' })), 'params');
    const [name, value] = Object.entries(params ?? {})[0] ?? [];
    must(name !== undefined, 'The node has no parameter of the vehicle.');
    const body = JSON.stringify({ value });
    const answer = await this.#target.ask({
      method: 'PUT',
      target: `/api/params/${name}`,
      body,
      headers: [JSON_TYPE],
    });
    mustRefuse(answer, 'E_ARMED');
    must(memberOf(jsonOf(answer), 'override') !== undefined, 'It does not say how the guard is overridden.');
  }

  async #command(body: Command & { readonly wait?: true; readonly wait_s?: number }): Promise<unknown> {
    const answer = await this.#target.ask({
      method: 'POST',
      target: '/api/command',
      body: JSON.stringify(body),
      headers: [JSON_TYPE],
      timeoutMs: (FLOWN_S + 30) * 1000,
    });
    must(
      answer.status === 200,
      `${body.cmd} was answered with ${answer.status} ${String(memberOf(jsonOf(answer), 'detail'))}`,
    );
    const value = jsonOf(answer);
    mustFit(value, commandAnswer);
    return value;
  }
}

const JSON_TYPE = ['content-type', 'application/json'] as const;

function numberIn(value: unknown, name: string): number {
  const found = memberOf(value, name);
  return typeof found === 'number' ? found : Number.NaN;
}
