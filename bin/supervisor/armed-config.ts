import { existsSync } from 'node:fs';
import { Serial } from '../../shared/async/serial.ts';
import { holdConfig, type KeyValues, letGo } from '../../shared/config/in-force.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Paths } from '../../shared/paths.ts';

/** How long an armed vehicle is remembered after it was disarmed (docs/contract/flight.md). */
export const ARMED_MS = 5000;
/** By then svc-link has heard a vehicle, if there is one. */
const SILENT_MS = 15_000;

interface ArmedConfigOptions {
  readonly paths: Pick<Paths, 'heldConfig'>;
  /** The guarded keys with which each process runs, by its name. */
  readonly running: () => Readonly<Record<string, KeyValues>>;
  readonly onProblem: (sentence: string) => void;
}

/** Holds the guarded keys of the config from the arming to 5 s after the disarming, over the end of every process. */
export class ArmedConfig {
  readonly #options: ArmedConfigOptions;
  readonly #work = new Serial();
  #holds: boolean;
  /** Whether svc-link has said anything since this supervisor started. */
  #wasTold = false;
  #end: NodeJS.Timeout | null = null;

  constructor(options: ArmedConfigOptions) {
    this.#options = options;
    this.#holds = existsSync(options.paths.heldConfig);
  }

  /** Whether processes start with the values that were. */
  get holds(): boolean {
    return this.#holds;
  }

  /** What svc-link says of the vehicle. */
  told(armed: boolean): void {
    this.#forgetEnd();
    this.#wasTold = true;
    if (armed) this.hold();
    else if (this.#holds) this.#endIn(ARMED_MS);
  }

  /**
   * svc-link runs. A node that ended in flight and comes back without a vehicle holds nothing for ever; where a vehicle was heard,
   * only its own word ends the hold, also when svc-link is new.
   */
  linkRuns(): void {
    if (this.#holds && !this.#wasTold && this.#end === null) this.#endIn(SILENT_MS);
  }

  /** Takes the values of what runs now, where none are held yet. */
  hold(): void {
    this.#holds = true;
    this.#do(async () => holdConfig(this.#options.paths, this.#options.running()));
  }

  stop(): void {
    this.#forgetEnd();
  }

  #endIn(ms: number): void {
    this.#end = setTimeout(() => {
      this.#end = null;
      this.#holds = false;
      this.#do(async () => letGo(this.#options.paths));
    }, ms);
  }

  #forgetEnd(): void {
    if (this.#end !== null) clearTimeout(this.#end);
    this.#end = null;
  }

  #do(work: () => Promise<void>): void {
    this.#work
      .run(work)
      .catch((error: unknown) =>
        this.#options.onProblem(`the guarded config keys are not held while armed: ${messageOf(error)}`),
      );
  }
}
