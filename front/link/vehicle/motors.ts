import type {
  EscInfo,
  EscStatus,
  EscTelemetry,
  ServoOutputs,
} from '../../../shared/mavlink/decode-motors.ts';
import type { Esc } from '../../../shared/rpc/telemetry.ts';
import { finite, scaled } from './known.ts';

const BANK = 16;
const BANKS = 2;
const MAX_ESCS = 32;
const I16_UNKNOWN = 0x7fff;
const U16_UNUSED = 0xffff;

/** Outputs and ESCs, put together from messages that carry some of them each. */
export class Motors {
  readonly #outputs: number[] = [];
  readonly #escs = new Map<number, Esc>();
  /** How many the vehicle says that it has; null: it does not say. */
  #count: number | null = null;

  /** @returns µs of each output from the first to the last that is there, 0 for one that is not; null: there is none */
  outputs({ port, us }: ServoOutputs): number[] | null {
    if (port < BANKS)
      for (const [at, value] of us.entries())
        this.#outputs[port * BANK + at] = value === U16_UNUSED ? 0 : value;
    const last = this.#outputs.findLastIndex((value) => value > 0);
    return last < 0 ? null : Array.from({ length: last + 1 }, (_, at) => this.#outputs[at] ?? 0);
  }

  /** Of ArduPilot. @param first number of the first of the four, from 1 */
  telemetry(first: number, escs: readonly EscTelemetry[]): Esc[] | null {
    for (const [at, { voltage, current, rpm, count, temperature }] of escs.entries()) {
      if (count === 0 && voltage === 0 && rpm === 0 && temperature === 0) continue; // it has none there
      // An ESC that runs has a voltage: 0 is one that does not measure it, and then no current either.
      this.#change(first + at, {
        rpm,
        voltage: scaled(voltage, 0, 100),
        current: voltage === 0 ? null : current / 100,
        temperature: scaled(temperature, 0, 1),
      });
    }
    return this.#list();
  }

  status({ index, escs }: EscStatus): Esc[] | null {
    for (const [at, { rpm, voltage, current }] of escs.entries()) {
      const number = index + at + 1;
      if (this.#count === null ? rpm === 0 && voltage === 0 && current === 0 : number > this.#count) continue;
      this.#change(number, { rpm, voltage: finite(voltage), current: finite(current) });
    }
    return this.#list();
  }

  info({ index, count, escs }: EscInfo): Esc[] | null {
    this.#count = count;
    for (const [at, { errors, failures, temperature }] of escs.entries()) {
      if (index + at + 1 > count) continue;
      const known = { errors, failures, temperature: scaled(temperature, I16_UNKNOWN, 100) };
      this.#change(index + at + 1, known);
    }
    return this.#list();
  }

  #change(number: number, values: Partial<Esc>): void {
    if (number > MAX_ESCS) return;
    const before = this.#escs.get(number) ?? {
      number,
      rpm: null,
      voltage: null,
      current: null,
      temperature: null,
      errors: null,
      failures: null,
    };
    this.#escs.set(number, { ...before, ...values });
  }

  #list(): Esc[] | null {
    if (this.#escs.size === 0) return null;
    return [...this.#escs.values()].toSorted((a, b) => a.number - b.number);
  }
}
