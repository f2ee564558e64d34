import type { Channel } from './channel.ts';
import type { Faults } from './faults.ts';
import { ParamValue } from './messages.ts';
import type { Param, Params } from './params.ts';
import type { Random } from './random.ts';

const NO_INDEX = 0xffff;

/** The parameter protocol, values as floats (ArduPilot's way for integers too). */
export class ParamLink {
  readonly #params: Params;
  readonly #channel: Channel;
  readonly #faults: Faults;
  readonly #random: Random;
  readonly #perSecond: number;
  #next: number | undefined; // index of the list download's next parameter
  #credit = 0;
  #last = 0;

  /** @param perSecond PARAM_VALUEs a second of a list download */
  constructor(params: Params, channel: Channel, faults: Faults, random: Random, perSecond: number) {
    this.#params = params;
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
    this.#next = 0;
    this.#credit = 0;
    this.#last = now;
  }

  get busy(): boolean {
    return this.#next !== undefined;
  }

  /** PARAM_REQUEST_READ. An unknown name or index is not answered, as in ArduPilot. */
  read(name: string, index: number): void {
    const param = index >= 0 ? this.#params.visible()[index] : this.#params.find(name);
    if (param !== undefined) this.#send(param, index >= 0 ? index : NO_INDEX);
  }

  /** PARAM_SET. Answered with the value that is stored now; ArduPilot gives no index there. */
  set(name: string, value: number): void {
    const param = this.#params.find(name);
    if (param === undefined || !Number.isFinite(value)) return;
    this.#params.set(name, value);
    this.#send(param, NO_INDEX);
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
      if (param !== undefined && !this.#lost()) this.#send(param, this.#next);
      this.#next++;
    }
    if (this.#next >= all.length) this.#next = undefined;
  }

  #lost(): boolean {
    const { dropParams } = this.#faults;
    return dropParams > 0 && this.#random() < dropParams; // no draw without the fault: the seed decides alone
  }

  #send(param: Param, paramIndex: number): void {
    this.#channel.send(ParamValue, {
      paramId: param.name,
      paramValue: param.value,
      paramType: param.type,
      paramCount: this.#params.visible().length,
      paramIndex,
    });
  }
}
