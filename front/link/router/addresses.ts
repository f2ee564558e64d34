import { byteAt } from '../../../shared/mavlink/byte-at.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { targetFieldsOf } from '../../../shared/mavlink/targets.ts';

/** More than any vehicle or ground station has behind one connection; the one not heard for the longest time is removed. */
const MAX_ADDRESSES = 64;

/** The target of a frame; system 0 is everybody, component 0 every component of the system. */
export interface FrameTarget {
  readonly system: number;
  readonly component: number;
}

export const EVERYBODY: FrameTarget = { system: 0, component: 0 };

export function targetOf(frame: Frame): FrameTarget {
  const fields = targetFieldsOf(frame.id);
  if (fields === null) return EVERYBODY;
  const system = payloadByte(frame, fields.system);
  if (system === 0) return EVERYBODY;
  return { system, component: fields.component === -1 ? 0 : payloadByte(frame, fields.component) };
}

/** v2 cuts zero bytes off the end of a payload. */
function payloadByte({ buffer, payloadStart, payloadLength }: Frame, at: number): number {
  return at < payloadLength ? byteAt(buffer, payloadStart + at) : 0;
}

/** The systems and components that were heard on one connection: frames for them go there. */
export class Addresses {
  readonly #heard = new Set<number>();
  /** Most frames have the same sender as the frame before. */
  #newest = -1;

  /** Whether any sender was heard here. */
  get any(): boolean {
    return this.#heard.size > 0;
  }

  learn({ system, component }: Frame): void {
    const address = (system << 8) | component;
    if (address === this.#newest) return;
    this.#newest = address;
    this.#heard.delete(address); // moved to the end: the first entry is the oldest
    this.#heard.add(address);
    if (this.#heard.size <= MAX_ADDRESSES) return;
    for (const oldest of this.#heard) {
      this.#heard.delete(oldest);
      return;
    }
  }

  /** Whether the sender of this frame was heard here. */
  hasSender({ system, component }: Frame): boolean {
    return this.#heard.has((system << 8) | component);
  }

  /** Whether a target of this frame was heard here; true for a frame to everybody. */
  has({ system, component }: FrameTarget): boolean {
    if (system === 0) return true;
    if (component !== 0) return this.#heard.has((system << 8) | component);
    for (const address of this.#heard) if (address >> 8 === system) return true;
    return false;
  }
}
