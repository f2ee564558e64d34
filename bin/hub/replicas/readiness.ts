import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../../../shared/errors.ts';
import type { FleetLink } from '../fleet/fleet-link.ts';
import type { Share } from '../fleet/share.ts';

/** A balancer that asks every second or two, twice, sends nobody after that. */
export const DRAIN_MS = 4000;
/** Who has not asked for so long does not balance. */
const ASKED_MS = 15_000;

interface ReadinessOptions {
  readonly link: Pick<FleetLink, 'connected' | 'problem'>;
  readonly share: Share;
  /** What is wrong with the database or the disk. */
  readonly disk: () => Promise<string | null>;
  /** ms */
  readonly monotonic: () => number;
}

/** Whether a balancer should send anybody here. */
export class Readiness {
  readonly #options: ReadinessOptions;
  #asked = Number.NEGATIVE_INFINITY;
  #isStopping = false;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** @returns its name at the broker @throws ApiError E_DRAINING, E_UPSTREAM_DOWN with what is missing */
  async check(): Promise<{ readonly ready: true; readonly name: string }> {
    const { link, share, disk, monotonic } = this.#options;
    this.#asked = monotonic();
    if (this.#isStopping) throw new ApiError('E_DRAINING', 'This hub is stopping.');
    const problem = share.problem() ?? (await disk());
    if (problem !== null) throw new ApiError('E_UPSTREAM_DOWN', problem);
    const { name } = share;
    if (name === null) throw new ApiError('E_UPSTREAM_DOWN', 'This replica has no name at the broker yet.');
    if (!link.connected)
      throw new ApiError('E_UPSTREAM_DOWN', `The broker is away: ${link.problem ?? 'not connected yet'}.`);
    return { ready: true, name };
  }

  /** Lets a balancer notice, if one asks, before the server ends. */
  async drain(): Promise<void> {
    this.#isStopping = true;
    if (this.#options.monotonic() - this.#asked < ASKED_MS) await delay(DRAIN_MS);
  }
}
