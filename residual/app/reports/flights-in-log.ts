import type { TrackPoint } from '../../../shared/fleet/flight.ts';
import type { FlightReport } from '../../../shared/schemas/flight-report.ts';
import type { Fact, FactSink } from './facts.ts';
import { Flight } from './flight.ts';

/** A log that was on for a day has this many at most; the thread's memory is for all of them. */
const MAX_FLIGHTS = 64;
/** Points of a track, twice of what is told: every other one goes when it is full. */
const MAX_POINTS = 4000;
/** What a later flight has to know that was said before it. */
const CONTEXT = new Set<Fact['kind']>(['firmware', 'vehicle', 'home', 'mode', 'landed']);
const MAX_PARAMS = 256;

/** From arming to disarming. */
export interface FlightInLog {
  /** By the log's own clock, s. */
  readonly armedAt: number;
  readonly endedAt: number;
  /** The log has its end; otherwise it ends with the log. */
  readonly isOver: boolean;
  /** s; null: the vehicle does not say whether it has landed. */
  readonly airborne: number | null;
  readonly report: FlightReport;
  readonly track: readonly TrackPoint[];
}

/** Divides a log into its flights. It takes so much memory, however long the log is. */
export class FlightsInLog implements FactSink {
  readonly #flights: FlightInLog[] = [];
  readonly #context = new Map<string, Fact>();
  #open: OpenFlight | null = null;

  seen(at: number): void {
    this.#open?.seen(at);
  }

  take(at: number, fact: Fact): void {
    if (CONTEXT.has(fact.kind)) this.#context.set(fact.kind, fact);
    if (fact.kind === 'param' && this.#context.size < MAX_PARAMS)
      this.#context.set(`param ${fact.name}`, fact);
    if (fact.kind === 'armed' && fact.armed && this.#open === null && this.#flights.length < MAX_FLIGHTS)
      this.#open = new OpenFlight(at, this.#context.values());
    this.#open?.take(at, fact);
    if (fact.kind === 'armed' && !fact.armed) this.#close(true);
  }

  /** In their order; the last may not be over. */
  flights(): readonly FlightInLog[] {
    this.#close(false);
    return this.#flights;
  }

  #close(isOver: boolean): void {
    if (this.#open !== null) this.#flights.push(this.#open.close(isOver));
    this.#open = null;
  }
}

class OpenFlight {
  readonly #armedAt: number;
  readonly #flight = new Flight();
  #track: TrackPoint[] = [];
  /** Of the positions that come, one in so many is kept. */
  #every = 1;
  #positions = 0;
  #endedAt: number;
  #aloftSince: number | null = null;
  #airborne: number | null = null;

  constructor(at: number, context: Iterable<Fact>) {
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

  close(isOver: boolean): FlightInLog {
    if (this.#aloftSince !== null) this.#onLanded(true);
    return {
      armedAt: this.#armedAt,
      endedAt: this.#endedAt,
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
