import type { ParamsProgress, ParamsSnapshot } from '../../shared/ipc/link-protocol.ts';
import type { ParamValue } from '../../shared/mavlink/decode.ts';
import type { Clock } from './clock.ts';
import type { Encoder } from './encode.ts';
import { type ParamEncoding, paramFromBits } from './param-encoding.ts';
import type { Vehicle } from './vehicle.ts';

/** More than any firmware has; a bound against a hostile or broken vehicle. */
const MAX_PARAMS = 8192;
/** The list has stopped coming. */
const LIST_QUIET_MS = 1000;
/** A burst of single requests was not answered in full. */
const BURST_QUIET_MS = 500;
const BURST = 20;
/** Rounds in a row that brought nothing before the download gives up. */
const MAX_IDLE_ROUNDS = 5;
/** A download that gave up begins anew after this. */
const RETRY_MS = 60_000;
const NOT_IN_LIST = 65_535;

interface Entry {
  readonly bits: number;
  readonly type: number;
  readonly index: number;
}

export interface ParamsOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly send: (bytes: Buffer) => void;
  readonly encoding: () => ParamEncoding;
}

/** The vehicle's parameters: a full download with re-request of what was lost, then kept up by every PARAM_VALUE. */
export class Params {
  readonly #options: ParamsOptions;
  readonly #cache = new Map<string, Entry>();
  /** Indexes that the present download has brought. */
  #have = new Set<number>();
  #expected: number | null = null;
  #generation = 0;
  #priming = false;
  #timedOut = false;
  /** When something was last asked for, or came, of the present download. */
  #activeAt = 0;
  #endedAt = 0;
  /** Indexes that the present burst still waits for; 0 while the list itself comes. */
  #burstOpen = 0;
  #idleRounds = 0;
  /** Where the next burst begins to look, so that one index that never comes does not hold up the others. */
  #cursor = 0;

  constructor(options: ParamsOptions) {
    this.#options = options;
  }

  get progress(): ParamsProgress {
    return {
      cached: this.#cache.size,
      expected: this.#expected,
      generation: this.#generation,
      priming: this.#priming,
      timed_out: this.#timedOut,
    };
  }

  snapshot(): ParamsSnapshot {
    const encoding = this.#options.encoding();
    const params: ParamsSnapshot['params'] = {};
    for (const [name, { bits, type, index }] of this.#cache) {
      params[name] = { value: paramFromBits(bits, type, encoding), type, index };
    }
    return { ...this.progress, params };
  }

  /** Begins a download. @param forget the cache is of another vehicle */
  download(forget: boolean): void {
    if (forget) {
      this.#cache.clear();
      this.#expected = null;
      this.#generation++;
    }
    this.#have = new Set();
    this.#priming = true;
    this.#timedOut = false;
    this.#idleRounds = 0;
    this.#cursor = 0;
    this.#requestList();
  }

  onValue({ name, bits, type, count, index }: ParamValue): void {
    const before = this.#cache.get(name);
    if (name === '' || (before === undefined && this.#cache.size >= MAX_PARAMS)) return;
    const known = index === NOT_IN_LIST ? (before?.index ?? NOT_IN_LIST) : index;
    if (before?.bits !== bits || before.type !== type || before.index !== known) {
      this.#cache.set(name, { bits, type, index: known });
      if (before?.bits !== bits || before.type !== type) this.#generation++;
    }
    // ArduPilot's count grows while it runs, when a parameter switches on a group of others.
    if (count > 0 && count <= MAX_PARAMS) this.#expected = count;
    if (this.#priming && index < MAX_PARAMS && !this.#have.has(index)) this.#onNewIndex(index);
  }

  /** Called a few times a second: a lost list or burst is asked for again. Waits while the vehicle is away. */
  tick(): void {
    const { clock, vehicle } = this.#options;
    const now = clock.now();
    if (!vehicle.alive) {
      this.#activeAt = now;
      return;
    }
    if (!this.#priming) {
      if (this.#timedOut && now - this.#endedAt >= RETRY_MS) this.download(false);
      return;
    }
    if (now - this.#activeAt < (this.#burstOpen > 0 ? BURST_QUIET_MS : LIST_QUIET_MS)) return;
    if (++this.#idleRounds > MAX_IDLE_ROUNDS) this.#end(true);
    else if (this.#expected === null || this.#have.size === 0) this.#requestList();
    else this.#requestMissing();
  }

  #onNewIndex(index: number): void {
    this.#have.add(index);
    this.#activeAt = this.#options.clock.now();
    this.#idleRounds = 0;
    if (this.#expected !== null && this.#have.size >= this.#expected) this.#end(false);
    else if (this.#burstOpen > 0 && --this.#burstOpen === 0) this.#requestMissing();
  }

  #requestList(): void {
    const { clock, encoder, send, vehicle } = this.#options;
    this.#activeAt = clock.now();
    this.#burstOpen = 0;
    if (vehicle.target !== null) send(encoder.paramRequestList(vehicle.target));
  }

  #requestMissing(): void {
    const { clock, encoder, send, vehicle } = this.#options;
    const { target } = vehicle;
    const expected = this.#expected ?? 0;
    if (target === null) return;
    this.#activeAt = clock.now();
    this.#burstOpen = 0;
    for (let step = 0; step < expected && this.#burstOpen < BURST; step++) {
      const index = this.#cursor % expected;
      this.#cursor = index + 1;
      if (this.#have.has(index)) continue;
      send(encoder.paramRequestRead(target, index));
      this.#burstOpen++;
    }
  }

  #end(timedOut: boolean): void {
    this.#priming = false;
    this.#timedOut = timedOut;
    this.#burstOpen = 0;
    this.#endedAt = this.#options.clock.now();
    this.#generation++;
  }
}
