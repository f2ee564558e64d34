import type { Frame } from '../../../shared/mavlink/frame.ts';
import { targetFieldsOf } from '../../../shared/mavlink/targets.ts';

/** More than any vehicle or ground station has behind one connection; the one not heard for the longest time goes. */
const MAX_ADDRESSES = 64;

/** Whom a frame is for; system 0 is everybody, component 0 every component of the system. */
export interface FrameTarget {
  readonly system: number;
  readonly component: number;
}

export const EVERYBODY: FrameTarget = { system: 0, component: 0 };

export function targetOf(frame: Frame): FrameTarget {
  const fields = targetFieldsOf(frame.id);
  if (fields === null) return EVERYBODY;
  const system = byteAt(frame, fields.system);
  if (system === 0) return EVERYBODY;
  return { system, component: fields.component === -1 ? 0 : byteAt(frame, fields.component) };
}

/** v2 cuts zero bytes off the end of a payload. */
function byteAt({ buffer, payloadStart, payloadLength }: Frame, at: number): number {
  return at < payloadLength ? (buffer[payloadStart + at] as number) : 0;
}

/** The systems and components that were heard at one place: frames for them go there. */
export class Addresses {
  readonly #heard = new Set<number>();
  /** Most frames are of the one before. */
  #newest = -1;

  /** Whether anybody was heard here. */
  get any(): boolean {
    return this.#heard.size > 0;
  }

  learn({ system, component }: Frame): void {
    const address = (system << 8) | component;
    if (address === this.#newest) return;
    this.#newest = address;
    this.#heard.delete(address); // to the end: the first is the one to forget
    this.#heard.add(address);
    if (this.#heard.size <= MAX_ADDRESSES) return;
    for (const oldest of this.#heard) {
      this.#heard.delete(oldest);
      return;
    }
  }

  /** Whether whoever sent this frame was heard here. */
  hasSender({ system, component }: Frame): boolean {
    return this.#heard.has((system << 8) | component);
  }

  /** Whether one of those that the frame is for was heard here; everybody is, everywhere. */
  has({ system, component }: FrameTarget): boolean {
    if (system === 0) return true;
    if (component !== 0) return this.#heard.has((system << 8) | component);
    for (const address of this.#heard) if (address >> 8 === system) return true;
    return false;
  }
}
