import type { Clock, Timer } from '../clock.ts';
import type { StatusLine } from '../vehicle/status-texts.ts';

/** Vehicles send their reason just after the ack as often as before it, and a radio holds it up besides. */
const AFTER_ACK_MS = 400;
/** ArduPilot repeats what keeps it from arming every 30 s; what was not repeated is mended. */
const TOLD_MS = 40_000;
const MAX_REASONS = 8;
/** How the firmwares begin the lines about what keeps them from arming. */
const PRE_ARM = /^(?:PreArm|Arm|Preflight Fail): /;
/** MAV_SEVERITY warning and worse: a reason, where "info" is chatter. */
const WARNING = 4;

/** Why a command was refused, as far as the vehicle has said. */
export interface Reasons {
  /** The one sentence: the newest warning meanwhile, else what keeps it from arming, else chatter. */
  readonly text: string | null;
  /** All of them, oldest first, without chatter; at most 8. */
  readonly all: readonly string[];
}

/** The vehicle's words while one command is under way. */
export interface RefusalWatch {
  /** What was said so far. @param arming what was told before of arming counts too */
  reasons(arming: boolean): Reasons;
  /** As `reasons`, after waiting up to 400 ms for a warning. */
  settled(arming: boolean): Promise<Reasons>;
  end(): void;
}

/** Finds the texts that say why a command was refused. */
export class Refusals {
  readonly #clock: Clock;
  readonly #watches = new Set<(line: StatusLine) => void>();
  /** What keeps the vehicle from arming, and when it was last told; at most 8. */
  #preArm: readonly { readonly text: string; readonly at: number }[] = [];
  readonly #checks: () => readonly string[];

  /** @param checks what keeps the vehicle from arming now, of one that reports all of it whenever it changes */
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

  /** The vehicle has armed, or is another one: what it told of arming does not hold any more. */
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
