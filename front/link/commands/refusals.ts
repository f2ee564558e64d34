import type { Clock, Timer } from '../clock.ts';
import type { Part, StatusLine } from '../part.ts';

/** Vehicles often send the reason just after the ack, and a radio delays it further. */
const AFTER_ACK_MS = 400;
const MAX_REASONS = 8;
/** MAV_SEVERITY warning or worse counts as a reason; "info" does not. */
const WARNING = 4;
const ERROR = 3;

/** The vehicle's reasons for refusing a command. */
export interface Reasons {
  /** The best single text: the newest warning since the command, else a failed arming check, else an info text. */
  readonly text: string | null;
  /** All warnings and failed checks, oldest first; at most 8. */
  readonly all: readonly string[];
}

/** Collects the vehicle's texts while one command is under way. */
interface RefusalWatch {
  /** The texts so far. @param arming include arming checks that were reported earlier */
  reasons(arming: boolean): Reasons;
  /** As `reasons`, after waiting up to 400 ms for a warning. */
  settled(arming: boolean): Promise<Reasons>;
  /** The newest error or worse; null: none. */
  error(): string | null;
  end(): void;
}

/** Finds the texts that say why a command was refused. */
export class Refusals implements Part {
  readonly #clock: Clock;
  readonly #watches = new Set<(line: StatusLine) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onLine(line: StatusLine): void {
    for (const watch of this.#watches) watch(line);
  }

  /** The vehicle's warnings from now on. */
  listen(): { readonly said: () => readonly string[]; readonly end: () => void } {
    const watch = this.watch();
    return { said: () => watch.reasons(false).all, end: () => watch.end() };
  }

  /** @param checks the arming checks that fail now, the newest last; for a command that may arm */
  watch(checks: () => readonly string[] = () => []): RefusalWatch {
    const said: string[] = [];
    let chatter: string | null = null;
    let error: string | null = null;
    let onReason: (() => void) | null = null;
    const reasons = (arming: boolean): Reasons => {
      const before = arming ? checks() : [];
      const all = [...new Set([...before, ...said])].slice(-MAX_REASONS);
      return { text: said.at(-1) ?? before.at(-1) ?? chatter, all };
    };
    const add = (line: StatusLine): void => {
      if (line.severity > WARNING) {
        chatter = line.text;
        return;
      }
      if (line.severity <= ERROR) error = line.text;
      said.push(line.text);
      if (said.length > MAX_REASONS) said.shift();
      onReason?.();
    };
    this.#watches.add(add);
    return {
      reasons,
      error: () => error,
      settled: async (arming) =>
        new Promise((resolve) => {
          if (said.length > 0) {
            resolve(reasons(arming));
            return;
          }
          const timer: Timer = this.#clock.after(AFTER_ACK_MS, () => resolve(reasons(arming)));
          onReason = () => {
            timer.cancel();
            resolve(reasons(arming));
          };
        }),
      end: () => {
        this.#watches.delete(add);
      },
    };
  }
}
