import type { TrackPoint } from '../fleet/flight.ts';
import type { FlightReport } from '../schemas/flight-report.ts';
import type { Fact, FactSink } from './facts.ts';
import { Flight } from './flight.ts';
import type { Uptime } from './tlog.ts';

/** A log that was on for a day has this many at most; the thread's memory is for all of them. */
const MAX_FLIGHTS = 64;
/** Points of a track, twice of what is told: every other one goes when it is full. */
const MAX_POINTS = 4000;
/** What a later flight has to know that was said before it. */
const CONTEXT = new Set<Fact['kind']>(['firmware', 'log', 'vehicle', 'home', 'mode', 'landed']);
const MAX_PARAMS = 256;

/** More than that is a clock that was set, s. */
const STEP_S = 1;
/** Between two logs of one flight, s: where no clock was set, and where that cannot be told from a vehicle that was switched on anew. */
const GAP_S = 60;
const GAP_STEPPED_S = 5;

/** From arming to disarming. */
export interface FlightInLog {
  /** In which of the logs it begins, from 0, and which of its flights it is, from 0. */
  readonly log: number;
  readonly index: number;
  /** In which of the logs it ends. */
  readonly lastLog: number;
  /** s since 1970, by the clock as the log has it in which the flight ends. */
  readonly armedAt: number;
  readonly endedAt: number;
  /** The log has its end; otherwise it ends with the log. */
  readonly isOver: boolean;
  /** s; null: the vehicle does not say whether it has landed. */
  readonly airborne: number | null;
  readonly report: FlightReport;
  readonly track: readonly TrackPoint[];
}

/**
 * Divides logs into their flights. It takes so much memory, however long a log is. A clock that is set in flight begins another log, and
 * so does a log that is too long: the flight goes on where the vehicle's own clock does. All its times are on the clock of its first log.
 */
export class FlightsInLog implements FactSink {
  readonly #flights: FlightInLog[] = [];
  readonly #context = new Map<string, Fact>();
  #open: OpenFlight | null = null;
  /** The vehicle's clock, last. */
  #uptime: Uptime | null = null;
  /** The clock of this log less that of the first, s. */
  #shift = 0;
  /** How many flights each log has; one that goes on from the log before is one of both. */
  readonly #counts = [0];
  /** Nothing of this log has said yet whether it is armed. */
  #isCarried = false;

  get counts(): readonly number[] {
    return this.#counts;
  }

  /** Another log follows, which begins then. @returns false: its flights are others, and it may not be read into this one */
  goesOn(begin: Uptime | null): boolean {
    const last = this.#uptime;
    if (this.#open === null || last === null || begin === null || this.#flights.length >= MAX_FLIGHTS)
      return false;
    const gap = begin.s - last.s;
    const shift = begin.at - (last.at + gap);
    const isStepped = Math.abs(shift - this.#shift) > STEP_S;
    if (gap < -STEP_S || gap > (isStepped ? GAP_STEPPED_S : GAP_S)) return false;
    if (isStepped) this.#shift = shift;
    this.#counts.push(0);
    this.#isCarried = true;
    return true;
  }

  seen(at: number): void {
    this.#open?.seen(at - this.#shift);
  }

  take(told: number, fact: Fact): void {
    const at = told - this.#shift;
    if (fact.kind === 'uptime') this.#uptime = { at, s: fact.s };
    if (CONTEXT.has(fact.kind)) this.#context.set(fact.kind, fact);
    if (fact.kind === 'param' && this.#context.size < MAX_PARAMS)
      this.#context.set(`param ${fact.name}`, fact);
    if (fact.kind === 'armed') this.#onArmed(at, fact.armed);
    this.#open?.take(at, fact);
    if (fact.kind === 'armed' && !fact.armed) this.#close(true);
  }

  /** In their order; the last may not be over. */
  flights(): readonly FlightInLog[] {
    this.#close(false);
    return this.#flights;
  }

  #onArmed(at: number, armed: boolean): void {
    const log = this.#counts.length - 1;
    const index = this.#counts[log] ?? 0;
    const begins = armed && this.#open === null && this.#flights.length < MAX_FLIGHTS;
    if (begins) this.#open = new OpenFlight({ at, log, index }, this.#context.values());
    if (begins || (armed && this.#isCarried)) this.#counts[log] = index + 1;
    this.#isCarried = false;
  }

  #close(isOver: boolean): void {
    if (this.#open !== null)
      this.#flights.push(this.#open.close(isOver, this.#shift, this.#counts.length - 1));
    this.#open = null;
  }
}

interface Begin {
  readonly at: number;
  readonly log: number;
  readonly index: number;
}

class OpenFlight {
  readonly #begin: Begin;
  readonly #armedAt: number;
  readonly #flight = new Flight();
  #track: TrackPoint[] = [];
  /** Of the positions that come, one in so many is kept. */
  #every = 1;
  #positions = 0;
  #endedAt: number;
  #aloftSince: number | null = null;
  #airborne: number | null = null;

  constructor(begin: Begin, context: Iterable<Fact>) {
    const { at } = begin;
    this.#begin = begin;
    this.#armedAt = at;
    this.#endedAt = at;
    for (const fact of context) this.take(at, fact);
  }

  seen(at: number): void {
    this.#endedAt = Math.max(this.#endedAt, at);
    this.#flight.seen(at);
  }

  take(at: number, fact: Fact): void {
    this.seen(at);
    this.#flight.take(at, fact);
    if (fact.kind === 'position') this.#onPosition(at, fact);
    if (fact.kind === 'landed') this.#onLanded(fact.landed);
  }

  /** @param shift the clock that counts less the one of the first log, s */
  close(isOver: boolean, shift: number, lastLog: number): FlightInLog {
    if (this.#aloftSince !== null) this.#onLanded(true);
    const { log, index } = this.#begin;
    return {
      log,
      index,
      lastLog,
      armedAt: this.#armedAt + shift,
      endedAt: this.#endedAt + shift,
      isOver,
      airborne: this.#airborne,
      report: this.#flight.report(),
      track: this.#track,
    };
  }

  #onLanded(landed: boolean): void {
    this.#airborne ??= 0;
    if (!landed) this.#aloftSince ??= this.#endedAt;
    else if (this.#aloftSince !== null) {
      this.#airborne += this.#endedAt - this.#aloftSince;
      this.#aloftSince = null;
    }
  }

  #onPosition(at: number, { lat, lon, height }: Extract<Fact, { readonly kind: 'position' }>): void {
    if (!(Math.abs(lat) <= 90 && Math.abs(lon) <= 180)) return;
    if (this.#positions++ % this.#every !== 0) return;
    const s = Math.max(0, at - this.#armedAt);
    this.#track.push([
      Number(s.toFixed(1)),
      Number(lat.toFixed(6)),
      Number(lon.toFixed(6)),
      height === null || !Number.isFinite(height) ? null : Number(height.toFixed(1)),
    ]);
    if (this.#track.length < MAX_POINTS) return;
    this.#track = this.#track.filter((_, index) => index % 2 === 0);
    this.#every *= 2;
  }
}
