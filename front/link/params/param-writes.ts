import { Serial } from '../../../shared/async/serial.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { ParamValue } from '../../../shared/mavlink/decode.ts';
import { IDENTITY } from '../../../shared/mavlink/param-classes.ts';
import type { ParamWriteRequest } from '../../../shared/rpc/link.ts';
import type { ParamWriteResult } from '../../../shared/rpc/link-answers.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import type { Guard } from '../vehicle/guard.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { type ParamEncoding, paramFromBits, paramToBits } from './param-encoding.ts';
import type { ParamTable } from './param-table.ts';

const SENDS = 3;
const ECHO_MS = 1000;
const MAX_WAITING = 8;

interface ParamWritesOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  readonly encoder: Encoder;
  readonly table: ParamTable;
  readonly send: (bytes: Buffer) => void;
  readonly encoding: () => ParamEncoding;
}

interface Running {
  readonly name: string;
  readonly wanted: number;
  /** Ends the wait: the vehicle has sent the value. */
  echoed: (() => void) | null;
  /** The newest value from the vehicle since we asked. */
  reported: number | null;
}

/**
 * Writes single parameters, one at a time: PARAM_SET up to three times, a second apart, until the vehicle reports the new
 * value. The answer is the value that the vehicle reports.
 */
export class ParamWrites {
  readonly #options: ParamWritesOptions;
  #running: Running | null = null;
  readonly #turns = new Serial();

  constructor(options: ParamWritesOptions) {
    this.#options = options;
  }

  /**
   * @throws ApiError E_IDENTITY, E_NO_FC, E_NOT_FOUND, E_INVALID_VALUE, E_ARMED, E_RATE_LIMITED: nothing was sent;
   *   E_TIMEOUT: the vehicle sent no value; E_UPSTREAM: it reported another value, which is in `cached_value`
   */
  async write(request: ParamWriteRequest): Promise<ParamWriteResult> {
    if (IDENTITY.has(request.name.trim().toUpperCase())) throw new ApiError('E_IDENTITY');
    if (this.#turns.size >= MAX_WAITING)
      throw new ApiError('E_RATE_LIMITED', 'Too many parameter writes are waiting. Try again shortly.');
    return this.#turns.run(async () => this.#write(request));
  }

  onValue({ name, bits }: ParamValue): void {
    const running = this.#running;
    if (running?.name !== name) return;
    running.reported = bits;
    if (bits === running.wanted) running.echoed?.();
  }

  async #write({ name, value, force }: ParamWriteRequest): Promise<ParamWriteResult> {
    const { vehicle, guard, table, encoding, encoder, send } = this.#options;
    const target = vehicle.reach();
    const entry = table.get(name);
    if (entry === undefined)
      throw new ApiError('E_NOT_FOUND', `No parameter ${name} among those downloaded so far.`);
    const wanted = paramToBits(value, entry.type, encoding());
    if (typeof wanted === 'string') {
      const errors = [{ path: '/value', message: wanted }];
      throw new ApiError('E_INVALID_VALUE', `${name} ${wanted}.`, { errors });
    }
    const running: Running = { name, wanted, echoed: null, reported: null };
    this.#running = running;
    try {
      for (let sent = 0; sent < SENDS && running.reported !== wanted; sent++) {
        // The edge checked this too, but the vehicle may have been armed since (docs/threat-model.md J7).
        guard.demand('param_write', target.system, force, { says: `write ${name}` });
        send(encoder.paramSet(target, name, wanted, entry.type));
        await this.#echo(running);
        // A running list download may have sent the old value, and a refusal sends none, so it is requested.
        if (running.reported !== wanted) {
          running.reported = null;
          send(encoder.paramRequestByName(target, name));
          await this.#echo(running);
        }
      }
    } finally {
      this.#running = null;
    }
    return this.#result(name, value, entry.type, running);
  }

  #result(name: string, value: number, type: number, { reported, wanted }: Running): ParamWriteResult {
    const { encoding, table } = this.#options;
    const known = table.get(name)?.bits;
    const cached = known === undefined ? null : paramFromBits(known, type, encoding());
    const result = { name, value, ack: reported === wanted, cached_value: cached, type };
    if (result.ack) return result;
    if (reported === null)
      throw new ApiError('E_TIMEOUT', `The vehicle did not confirm ${name} in time.`, result);
    throw new ApiError('E_UPSTREAM', `The vehicle did not take this value: ${name} is ${cached}.`, result);
  }

  async #echo(running: Running): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer: Timer = this.#options.clock.after(ECHO_MS, resolve);
      running.echoed = () => {
        timer.cancel();
        resolve();
      };
    });
    running.echoed = null;
  }
}
