import type { Clock, Timer } from './clock.ts';
import type { StatusLine } from './status-texts.ts';

/** ArduPilot sends its reason just after the ack as often as before it. */
const AFTER_ACK_MS = 150;
/** MAV_SEVERITY warning and worse: a reason, where "info" is chatter. */
const WARNING = 4;

/** The vehicle's words while one command is under way. */
export interface RefusalWatch {
  /** The newest line so far, a warning before chatter. */
  newest(): string | null;
  /** As `newest`, after waiting up to 150 ms for a warning. */
  settled(): Promise<string | null>;
  end(): void;
}

/** Finds the STATUSTEXT that says why a command was refused. */
export class Refusals {
  readonly #clock: Clock;
  readonly #watches = new Set<(line: StatusLine) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onLine(line: StatusLine): void {
    for (const watch of this.#watches) watch(line);
  }

  watch(): RefusalWatch {
    let reason: string | null = null;
    let chatter: string | null = null;
    let onReason: (() => void) | null = null;
    const newest = (): string | null => reason ?? chatter;
    const add = (line: StatusLine): void => {
      if (line.severity > WARNING) {
        chatter = line.text;
        return;
      }
      reason = line.text;
      onReason?.();
    };
    this.#watches.add(add);
    return {
      newest,
      settled: async () =>
        new Promise((resolve) => {
          if (reason !== null) {
            resolve(reason);
            return;
          }
          const timer: Timer = this.#clock.after(AFTER_ACK_MS, () => resolve(newest()));
          onReason = () => {
            timer.cancel();
            resolve(newest());
          };
        }),
      end: () => {
        this.#watches.delete(add);
      },
    };
  }
}
