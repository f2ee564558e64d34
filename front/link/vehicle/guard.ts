import { ApiError } from '../../../shared/errors.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import type { Arming } from './arming.ts';

/** Everything that the armed guard stands before in this process; what cuts the link is asked for by svc-control, with `worst`. */
type GuardedAction =
  | 'frame'
  | 'param_write'
  | 'params_reset'
  | 'signing'
  | 'logs_erase'
  | 'calibration'
  | 'log_fetch'
  | 'reboot'
  | 'motor_test'
  | 'stickless_mode';

/** What nothing overrides: the firmwares refuse it themselves, or the vehicle stops logging for it. */
const NEVER_FORCED: ReadonlySet<GuardedAction> = new Set(['log_fetch', 'reboot', 'motor_test']);

const NO_OVERRIDE = 'The vehicle is armed, or its state is unknown. Disarm it first; nothing overrides this.';

/**
 * The armed guard (docs/contract/flight.md): the one place that reads a permission out of the armed state, and the one that refuses by it.
 * `test/architecture.spec.ts` holds both.
 */
export class Guard {
  readonly #arming: Pick<Arming, 'of' | 'worst'>;

  constructor(arming: Pick<Arming, 'of' | 'worst'>) {
    this.#arming = arming;
  }

  /** @param system whom it would change; 0 for all, null while no vehicle is known @param force the override was asked for */
  mayChange(action: GuardedAction, system: number | null, force: boolean): boolean {
    return (force && !NEVER_FORCED.has(action)) || this.#arming.of(system) === false;
  }

  /**
   * As `mayChange`. @param says the action in words, for the answer @param detail a sentence in place of the usual one
   * @throws ApiError E_ARMED
   */
  demand(
    action: GuardedAction,
    system: number | null,
    force: boolean,
    { says, detail }: { readonly says: string; readonly detail?: string },
  ): void {
    if (this.mayChange(action, system, force)) return;
    const final = NEVER_FORCED.has(action) ? NO_OVERRIDE : undefined;
    throw armedRefusal(says, this.#arming.of(system), detail ?? final);
  }

  /** Whether what was allowed before ends: it is known to be armed now. A gap in its heartbeats ends nothing. */
  mustEnd(system: number | null): boolean {
    return this.#arming.of(system) === true;
  }

  /** The state of one system, to be told and recorded; no permission. */
  state(system: number | null): Armed {
    return this.#arming.of(system);
  }

  /** The same of all systems that were heard: for svc-control, before it cuts the link. */
  get worst(): Armed {
    return this.#arming.worst;
  }
}

/** @param armed what was read of the vehicle */
export function armedRefusal(action: string, armed: Armed, detail?: string): ApiError {
  return new ApiError('E_ARMED', detail, { action, armed });
}
