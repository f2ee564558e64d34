import { type Family, modeName } from '../../../../../../../shared/flight/modes.ts';
import { viewerWords } from '../viewer-words.ts';

/** What happened in a log besides its numbers: modes, events, texts. */

/** MAV_SEVERITY, as far as it is told apart. */
export type Tone = 'bad' | 'warn' | 'info';

export interface LogMode {
  readonly name: string;
  readonly from: number;
  /** Of the next mode, or of the end of the log. */
  readonly to: number;
}

export interface LogEvent {
  readonly at: number;
  readonly text: string;
  readonly tone: Tone;
}

const MAX_MODES = 1000;
const MAX_EVENTS = 5000;
const MAX_TEXT = 300;
const SEVERITY_ERROR = 3;
const SEVERITY_WARNING = 4;

/** How serious a text is. @param severity MAV_SEVERITY */
export function toneOf(severity: number): Tone {
  if (severity <= SEVERITY_ERROR) return 'bad';
  return severity <= SEVERITY_WARNING ? 'warn' : 'info';
}

/** Gathers them while a log is read. */
export class Marks {
  /** Whether there were more than are kept. */
  full = false;
  readonly events: LogEvent[] = [];
  /** Whose numbers of modes they are. */
  family: Family | null = null;
  readonly #changes: { readonly at: number; readonly mode: string | number }[] = [];
  #mode: string | number | null = null;
  #armed: boolean | null = null;

  /** @param mode its name, or its number in the table of the family */
  mode(at: number, mode: string | number): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    if (this.#changes.length >= MAX_MODES) this.full = true;
    else this.#changes.push({ at, mode });
  }

  armed(at: number, armed: boolean): void {
    if (armed !== this.#armed && (armed || this.#armed !== null))
      this.event(at, armed ? viewerWords.events.armed : viewerWords.events.disarmed, 'info');
    this.#armed = armed;
  }

  event(at: number, text: string, tone: Tone): void {
    if (this.events.length >= MAX_EVENTS) this.full = true;
    else this.events.push({ at, text: text.slice(0, MAX_TEXT), tone });
  }

  /** The modes one after the other. @param end of the log */
  modes(end: number): readonly LogMode[] {
    return this.#changes.map(({ at, mode }, index) => ({
      name: typeof mode === 'number' ? modeName(this.family, mode) : mode,
      from: at,
      to: this.#changes[index + 1]?.at ?? end,
    }));
  }

  finish(): void {
    this.events.sort((a, b) => a.at - b.at);
    this.#changes.sort((a, b) => a.at - b.at);
  }
}
