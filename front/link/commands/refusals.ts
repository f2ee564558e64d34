import type { Clock, Timer } from '../clock.ts';
import type { StatusLine } from '../vehicle/status-texts.ts';

/** Vehicles often send the reason just after the ack, and a radio delays it further. */
const AFTER_ACK_MS = 400;
/** ArduPilot repeats its failed arming checks every 30 s; one that is not repeated has been fixed. */
const TOLD_MS = 40_000;
const MAX_REASONS = 8;
/** How the firmwares begin a line about a failed arming check. */
export const PRE_ARM = /^(?:PreArm|Arm|Preflight Fail): /;
/** MAV_SEVERITY warning or worse counts as a reason; "info" does not. */
const WARNING = 4;

/** The vehicle's reasons for refusing a command. */
export interface Reasons {
  /** The best single text: the newest warning since the command, else a failed arming check, else an info text. */
  readonly text: string | null;
  /** All warnings and failed checks, oldest first; at most 8. */
  readonly all: readonly string[];
}

/** Collects the vehicle's texts while one command is under way. */
export interface RefusalWatch {
  /** The texts so far. @param arming include arming checks that were reported earlier */
  reasons(arming: boolean): Reasons;
  /** As `reasons`, after waiting up to 400 ms for a warning. */
  settled(arming: boolean): Promise<Reasons>;
  end(): void;
}

/** Finds the texts that say why a command was refused. */
export class Refusals {
  readonly #clock: Clock;
  readonly #watches = new Set<(line: StatusLine) => void>();
  /** Failed arming checks, and when each was last reported; at most 8. */
  #preArm: readonly { readonly text: string; readonly at: number }[] = [];
  readonly #checks: () => readonly string[];

  /** @param checks the checks that fail now, for a vehicle that reports all of them on each change */
  constructor(clock: Clock, checks: () => readonly string[]) {
    this.#clock = clock;
    this.#checks = checks;
  }

  onLine(line: StatusLine): void {
    if (PRE_ARM.test(line.text)) {
      const others = this.#preArm.filter(({ text }) => text !== line.text);
      this.#preArm = [...others, { text: line.text, at: this.#clock.now() }].slice(-MAX_REASONS);
    }
    for (const watch of this.#watches) watch(line);
  }

  /** Forgets the failed checks: the vehicle has armed, or it is another vehicle. */
  forget(): void {
    this.#preArm = [];
  }

  watch(): RefusalWatch {
    const said: string[] = [];
    let chatter: string | null = null;
    let onReason: (() => void) | null = null;
    const reasons = (arming: boolean): Reasons => {
      const since = this.#clock.now() - TOLD_MS;
      const told = this.#preArm.filter(({ at }) => at >= since).map(({ text }) => text);
      const before = arming ? [...this.#checks(), ...told] : [];
      const all = [...new Set([...before, ...said])].slice(-MAX_REASONS);
      return { text: said.at(-1) ?? before.at(-1) ?? chatter, all };
    };
    const add = (line: StatusLine): void => {
      if (line.severity > WARNING) {
        chatter = line.text;
        return;
      }
      said.push(line.text);
      if (said.length > MAX_REASONS) said.shift();
      onReason?.();
    };
    this.#watches.add(add);
    return {
      reasons,
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
