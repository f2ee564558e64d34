import type { Place } from '../shared/flight/seen.ts';
import type { FlightPlan } from '../shared/mission/flight-plan.ts';
import { personCode } from '../shared/person-code.ts';
import { Denial } from './denial.ts';

/** Plans of flights that wait for their `flight_run`, and the runs under way; in memory: a restart forgets both. */

export interface KeptPlan {
  readonly code: string;
  readonly node: string;
  readonly plan: FlightPlan;
  readonly allowFar: boolean;
  /** The vehicle as it was when the plan was made. */
  readonly begin: {
    readonly place: Place;
    readonly altitude: number;
    readonly armed: boolean | null;
    readonly mode: string | null;
  };
  /** Steady, ms. */
  readonly at: number;
}

const PLAN_MS = 10 * 60_000;
const MAX_PLANS = 8;
// The oldest callers are forgotten, and plan again.
const MAX_CALLERS = 256;
export const PLAN_CODE = '^plan-[A-Z2-9]{8}$';

/** A run under way. */
export class Run {
  readonly principal: string;
  #interruptedBy: string | null = null;

  constructor(principal: string) {
    this.principal = principal;
  }

  /** The tool that has commanded the vehicle since; null: none. */
  get interruptedBy(): string | null {
    return this.#interruptedBy;
  }

  interrupt(tool: string): void {
    this.#interruptedBy ??= tool;
  }
}

export class Flights {
  readonly #now: () => number;
  /** By caller, the oldest first. */
  readonly #plans = new Map<string, readonly KeptPlan[]>();
  /** By node. */
  readonly #runs = new Map<string, Run>();

  /** @param now steady, ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @returns the code of the plan */
  keep(principal: string, plan: Omit<KeptPlan, 'code' | 'at'>): string {
    const code = `plan-${personCode(8)}`;
    const kept = [...this.#fresh(principal), { ...plan, code, at: this.#now() }].slice(-MAX_PLANS);
    this.#plans.delete(principal); // the map keeps the order of use
    this.#plans.set(principal, kept);
    const [oldest] = this.#plans.keys();
    if (this.#plans.size > MAX_CALLERS && oldest !== undefined) this.#plans.delete(oldest);
    return code;
  }

  /** @throws Denial not_found */
  find(principal: string, node: string, code: unknown): KeptPlan {
    const found = this.#fresh(principal).find((plan) => plan.code === code && plan.node === node);
    if (found === undefined)
      throw new Denial(
        'not_found',
        'No plan of this caller for this node has that code: it was flown, is older than 10 minutes, or the connector was restarted. Call flight_plan again.',
      );
    return found;
  }

  /** It flies once. */
  drop(principal: string, { code }: KeptPlan): void {
    this.#plans.set(
      principal,
      this.#fresh(principal).filter((plan) => plan.code !== code),
    );
  }

  /** @throws Denial precondition_failed: one run for each node at a time */
  checkFree(node: string): void {
    if (this.#runs.has(node))
      throw new Denial(
        'precondition_failed',
        'Another plan is flown on this node now. Wait for its end, or stop it with flight_stop.',
      );
  }

  /** @throws Denial precondition_failed */
  begin(node: string, principal: string): Run {
    this.checkFree(node);
    const run = new Run(principal);
    this.#runs.set(node, run);
    return run;
  }

  end(node: string): void {
    this.#runs.delete(node);
  }

  /** Something else commands the vehicle: a plan that is flown does not go on. */
  interrupt(node: string, tool: string): void {
    this.#runs.get(node)?.interrupt(tool);
  }

  #fresh(principal: string): readonly KeptPlan[] {
    const now = this.#now();
    return (this.#plans.get(principal) ?? []).filter(({ at }) => now - at < PLAN_MS);
  }
}
