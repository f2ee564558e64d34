import type { ParamValue } from '../../../shared/mavlink/decode.ts';
import type { Clock } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { MAX_PARAMS } from './param-table.ts';

/** Silence after which the list has ended. */
const LIST_QUIET_MS = 1000;
/** A burst of single requests was not answered in full. */
const BURST_QUIET_MS = 500;
const BURST = 50;
/** The download gives up after this many rounds in a row without a parameter. */
const MAX_IDLE_ROUNDS = 12;

interface ListTransferOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly ask: (bytes: Buffer) => void;
  /** @param names all parameters of this download */
  readonly onEnd: (complete: boolean, names: ReadonlySet<string>) => void;
}

/** One download by the parameter protocol: the whole list, then the missing indexes in bursts until all are there. */
export class ListTransfer {
  readonly #options: ListTransferOptions;
  readonly #have = new Set<number>();
  readonly #names = new Set<string>();
  #expected: number | null = null;
  /** Time of the last request or answer. */
  #activeAt = 0;
  /** Indexes that the present burst still waits for; 0 while the list itself comes. */
  #burstOpen = 0;
  #idleRounds = 0;
  /** Where the next burst starts, so that one index without an answer does not delay the others. */
  #cursor = 0;
  #over = false;

  constructor(options: ListTransferOptions) {
    this.#options = options;
  }

  start(): void {
    this.#requestList();
  }

  onValue({ name, count, index }: ParamValue): void {
    if (this.#over) return;
    // ArduPilot's count grows when a parameter enables a group of others.
    if (count > 0 && count <= MAX_PARAMS) this.#expected = count;
    if (index >= MAX_PARAMS || this.#have.has(index)) return;
    this.#have.add(index);
    this.#names.add(name);
    this.#activeAt = this.#options.clock.now();
    this.#idleRounds = 0;
    if (this.#expected !== null && this.#have.size >= this.#expected) this.#end(true);
    else if (this.#burstOpen > 0 && --this.#burstOpen === 0) this.#requestMissing();
  }

  /** The vehicle says that it has no parameters. It is believed while it has told none. */
  onNone(): void {
    if (!this.#over && this.#have.size === 0) this.#end(true);
  }

  /** Called a few times a second: a lost list or burst is asked for again. Waits while the vehicle is away. */
  tick(): void {
    const { clock, vehicle } = this.#options;
    const now = clock.now();
    if (this.#over) return;
    if (!vehicle.alive) {
      this.#activeAt = now;
      return;
    }
    if (now - this.#activeAt < (this.#burstOpen > 0 ? BURST_QUIET_MS : LIST_QUIET_MS)) return;
    if (++this.#idleRounds > MAX_IDLE_ROUNDS) this.#end(false);
    else if (this.#expected === null || this.#have.size === 0) this.#requestList();
    else this.#requestMissing();
  }

  #requestList(): void {
    const { clock, encoder, ask, vehicle } = this.#options;
    this.#activeAt = clock.now();
    this.#burstOpen = 0;
    if (vehicle.target !== null) ask(encoder.paramRequestList(vehicle.target));
  }

  #requestMissing(): void {
    const { clock, encoder, ask, vehicle } = this.#options;
    const { target } = vehicle;
    const expected = this.#expected ?? 0;
    if (target === null) return;
    this.#activeAt = clock.now();
    this.#burstOpen = 0;
    for (let step = 0; step < expected && this.#burstOpen < BURST; step++) {
      const index = this.#cursor % expected;
      this.#cursor = index + 1;
      if (this.#have.has(index)) continue;
      ask(encoder.paramRequestRead(target, index));
      this.#burstOpen++;
    }
  }

  #end(complete: boolean): void {
    this.#over = true;
    this.#options.onEnd(complete, this.#names);
  }
}
