import { clamp } from '../../../shared/flight/geo.ts';
import type { Random } from '../../../shared/random.ts';
import type { Faults } from '../faults.ts';
import type { ParamDialect } from '../params/param-dialect.ts';
import type { Param, Params } from '../params/params.ts';
import type { Channel } from './channel.ts';
import { ParamError, ParamValue } from './messages.ts';
import { type Peer, target } from './mission-link.ts';

const NO_INDEX = 0xffff;
const HASH_CHECK = '_HASH_CHECK';
const UINT32 = 5;
/** MAV_PARAM_TYPE of what PX4 takes: INT32, REAL32. */
const TYPES: ReadonlySet<number> = new Set([6, 9]);
/** MAV_PARAM_ERROR */
const ERROR = { doesNotExist: 1, readOnly: 5, typeUnsupported: 6, typeMismatch: 7 } as const;

/** The parameter protocol in the dialect of the firmware. */
export class ParamLink {
  readonly #params: Params;
  readonly #dialect: ParamDialect;
  readonly #channel: Channel;
  readonly #faults: Faults;
  readonly #random: Random;
  readonly #perSecond: number;
  #next: number | undefined; // index of the list download's next parameter
  #credit = 0;
  #last = 0;

  /** @param perSecond PARAM_VALUEs a second of a list download */
  constructor(
    params: Params,
    dialect: ParamDialect,
    channel: Channel,
    faults: Faults,
    random: Random,
    perSecond: number,
  ) {
    this.#params = params;
    this.#dialect = dialect;
    this.#channel = channel;
    this.#faults = faults;
    this.#random = random;
    this.#perSecond = perSecond;
  }

  reset(): void {
    this.#next = undefined;
  }

  /** PARAM_REQUEST_LIST: starts the download, or starts it again. @param now wall clock, ms */
  list(now: number): void {
    // PX4 begins with the hash, so that a ground station with a good copy stops it; not when it is asked again.
    if (this.#next === undefined) this.#sendHash();
    this.#next = 0;
    this.#credit = 0;
    this.#last = now;
  }

  get busy(): boolean {
    return this.#next !== undefined;
  }

  /** PARAM_REQUEST_READ. */
  read(peer: Peer, name: string, index: number): void {
    if (index < 0 && name === HASH_CHECK) {
      this.#sendHash();
      return;
    }
    const param = index >= 0 ? this.#params.visible()[index] : this.#params.find(name);
    if (param !== undefined) this.#send(param, index >= 0 ? index : this.#indexOf(param));
    else this.#refuse(peer, ERROR.doesNotExist, index >= 0 ? '' : name, index);
  }

  /** PARAM_SET. Answered with the value that is stored now. @param bits the four bytes of param_value */
  set(peer: Peer, name: string, bits: Buffer, type: number): void {
    if (name === HASH_CHECK && this.#dialect.hash !== undefined) {
      this.#next = undefined; // the ground station has the list already
      this.#refuse(peer, ERROR.readOnly, name);
      return;
    }
    const param = this.#params.find(name);
    if (param === undefined) {
      this.#refuse(peer, ERROR.doesNotExist, name);
      return;
    }
    if (this.#dialect.typed && type !== param.type) {
      this.#refuse(peer, TYPES.has(type) ? ERROR.typeMismatch : ERROR.typeUnsupported, name);
      return;
    }
    const value = this.#dialect.read(bits, type);
    if (!Number.isFinite(value)) return;
    if (!this.#faults.paramReadonly.includes(name)) {
      const limits = this.#faults.paramClamp[name];
      this.#params.set(name, limits === undefined ? value : clamp(value, limits[0], limits[1]));
    }
    this.#send(param, this.#indexOf(param));
  }

  /** Goes on with a download. @param now wall clock, ms */
  tick(now: number): void {
    if (this.#next === undefined) return;
    this.#credit = Math.min(
      Math.max(20, this.#perSecond / 20),
      this.#credit + ((now - this.#last) * this.#perSecond) / 1000,
    );
    this.#last = now;
    const all = this.#params.visible();
    for (; this.#credit >= 1 && this.#next < all.length; this.#credit--) {
      const param = all[this.#next];
      if (param !== undefined && !this.#lost()) this.#send(param, this.#next, all.length);
      this.#next++;
    }
    if (this.#next >= all.length) this.#next = undefined;
  }

  #lost(): boolean {
    const { dropParams } = this.#faults;
    return dropParams > 0 && this.#random() < dropParams; // no draw without the fault: the seed decides alone
  }

  // ArduPilot gives no index where it was not asked for by one.
  #indexOf(param: Param): number {
    return this.#dialect.indexed ? this.#params.visible().indexOf(param) : NO_INDEX;
  }

  #refuse(peer: Peer, error: number, paramId: string, paramIndex = -1): void {
    if (this.#dialect.errors) this.#channel.send(ParamError, { ...target(peer), paramIndex, paramId, error });
  }

  #sendHash(): void {
    const all = this.#params.visible();
    const hash = this.#dialect.hash?.(all);
    if (hash === undefined) return;
    this.#value(HASH_CHECK, BigInt(hash), UINT32, NO_INDEX, all.length);
  }

  #send(param: Param, paramIndex: number, count = this.#params.visible().length): void {
    this.#value(param.name, this.#dialect.write(param), param.type, paramIndex, count);
  }

  #value(
    paramId: string,
    value: number | bigint,
    paramType: number,
    paramIndex: number,
    paramCount: number,
  ): void {
    // The codec takes a bigint in a float field for its bits: as a number, those of a NaN would not survive.
    const paramValue = value as number;
    this.#channel.send(ParamValue, { paramId, paramValue, paramType, paramCount, paramIndex });
  }
}
