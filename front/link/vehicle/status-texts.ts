import type { StatusTextPart } from '../../../shared/mavlink/decode.ts';
import type { Clock } from '../clock.ts';
import type { Part, SessionReason, StatusLine } from '../part.ts';

const KEEP = 10;
const MAX_PARTS = 8;
const MAX_OPEN = 4;
/** After this time an incomplete text is shown without its missing parts. */
const PART_WAIT_MS = 1000;
/** An event and the text that says the same come within this time. */
const TWICE_MS = 1000;
/** In place of a part that did not come. */
const GAP = Buffer.from('…');

interface Open {
  readonly key: number;
  readonly severity: number;
  readonly parts: (Buffer | undefined)[];
  readonly since: number;
}

/** Puts the parts of long STATUSTEXTs together and keeps the newest lines. */
export class StatusTexts implements Part {
  readonly #clock: Clock;
  #onLine: ((line: StatusLine) => void) | null = null;
  #lines: StatusLine[] = [];
  #open: Open[] = [];
  /** Of the lines, as many: when each came, whether it ended in a tab, whether it was an event. */
  #marks: {
    readonly text: string;
    readonly at: number;
    readonly marked: boolean;
    readonly isEvent: boolean;
  }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param onLine called with each line that is complete */
  listen(onLine: (line: StatusLine) => void): void {
    this.#onLine = onLine;
  }

  /** At most 10, oldest first. */
  get newest(): readonly StatusLine[] {
    return this.#lines;
  }

  /** @param component of the vehicle that speaks: text numbers count for each on its own */
  add(part: StatusTextPart, component: number): void {
    if (part.id === 0) {
      this.#publish(part.severity, part.bytes.toString());
      return;
    }
    if (part.part >= MAX_PARTS) return;
    const key = component * 0x10000 + part.id;
    let open = this.#open.find((entry) => entry.key === key);
    if (open === undefined) {
      if (this.#open.length === MAX_OPEN) this.#close(this.#open[0]);
      open = { key, severity: part.severity, parts: [], since: this.#clock.now() };
      this.#open.push(open);
    }
    open.parts[part.part] = part.bytes;
    if (part.final || part.part === MAX_PARTS - 1) this.#close(open);
  }

  /** An event of the vehicle as text. The vehicle sends many events as STATUSTEXT too: those are shown once. */
  say(severity: number, text: string): void {
    this.#publish(severity, text, true);
  }

  /** Shows texts that have waited too long for their missing parts; called a few times a second. */
  tick(): void {
    const now = this.#clock.now();
    for (const open of this.#open) if (now - open.since >= PART_WAIT_MS) this.#close(open);
  }

  onSession(reason: SessionReason): void {
    if (reason !== 'learned') return;
    this.#lines = [];
    this.#open = [];
  }

  #close(open: Open | undefined): void {
    if (open === undefined) return;
    this.#open = this.#open.filter((entry) => entry !== open);
    this.#publish(open.severity, Buffer.concat(Array.from(open.parts, (bytes) => bytes ?? GAP)).toString());
  }

  #publish(severity: number, said: string, isEvent = false): void {
    // PX4 ends a text with a tab if it sends the same as an EVENT.
    const text = said.trimEnd();
    const marked = text !== said;
    const now = this.#clock.now();
    const recent = this.#marks.filter((mark) => mark.text === text && now - mark.at < TWICE_MS);
    if (recent.some((mark) => (isEvent && mark.marked) || (marked && mark.isEvent))) return;
    this.#marks = [...this.#marks.slice(1 - KEEP), { text, at: now, marked, isEvent }];
    const line = { at: new Date(this.#clock.wall()).toISOString(), severity, text };
    this.#lines = [...this.#lines.slice(1 - KEEP), line];
    this.#onLine?.(line);
  }
}
