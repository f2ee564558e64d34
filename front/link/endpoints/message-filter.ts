import { ardupilotmega, common, minimal, standard } from 'node-mavlink';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import type { Clock } from '../clock.ts';

const MAX_MESSAGES = 64;
const MAX_RATE_HZ = 1000;
/** How many times of a sender and message are kept; when the oldest is dropped, one frame too many passes. */
const MAX_SEATS = 512;
const ENTRY = /^([A-Z][A-Z0-9_]*|\d{1,8})(?:@(\d{1,4}(?:\.\d{1,3})?))?$/;

/** Which messages a reader wants, and at most how often each: `ATTITUDE@5,HEARTBEAT,30@0.5`. */
export class MessageFilter {
  readonly #intervals: ReadonlyMap<number, number>;
  readonly #clock: Clock;
  readonly #due = new Map<number, number>();

  private constructor(intervals: ReadonlyMap<number, number>, clock: Clock) {
    this.#intervals = intervals;
    this.#clock = clock;
  }

  /** @returns the filter, or a sentence that says what is wrong with the text */
  static parse(text: string, clock: Clock): MessageFilter | string {
    const intervals = new Map<number, number>();
    for (const entry of text.split(',')) {
      const match = ENTRY.exec(entry);
      if (match === null) return `msgs: "${entry}" is not NAME, NAME@Hz, number or number@Hz`;
      const [, name = '', hz] = match;
      const id = /^\d/.test(name) ? Number(name) : idOf(name);
      if (id === null) return `msgs: no message is called ${name}`;
      const rate = hz === undefined ? null : Number(hz);
      if (rate !== null && !(rate > 0 && rate <= MAX_RATE_HZ))
        return `msgs: the rate of ${name} is above 0 and at most ${MAX_RATE_HZ} Hz`;
      intervals.set(id, rate === null ? 0 : 1000 / rate);
    }
    if (intervals.size > MAX_MESSAGES) return `msgs: at most ${MAX_MESSAGES} messages`;
    return new MessageFilter(intervals, clock);
  }

  accepts(frame: Frame): boolean {
    const interval = this.#intervals.get(frame.id);
    if (interval === undefined) return false;
    if (interval === 0) return true;
    // 24 bits of id, 8 of system, 8 of component: exact in a double.
    const seat = (frame.id * 256 + frame.system) * 256 + frame.component;
    const now = this.#clock.now();
    const due = this.#due.get(seat);
    if (due !== undefined && now < due) return false;
    if (due === undefined && this.#due.size >= MAX_SEATS) this.#due.clear();
    // Counted from when it was due, so that jitter does not lower the rate; after a pause, from now.
    this.#due.set(seat, due === undefined || now - due > interval ? now + interval : due + interval);
    return true;
  }
}

function idOf(name: string): number | null {
  for (const { REGISTRY } of [minimal, standard, common, ardupilotmega]) {
    for (const message of Object.values(REGISTRY)) if (message.MSG_NAME === name) return message.MSG_ID;
  }
  return null;
}
