import { Backoff } from '../../../shared/async/backoff.ts';
import { contained } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import { turnFile } from '../../../shared/fleet/turn-file.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Enrolment } from './enrolment.ts';

const RETRY = { firstMs: 5000, capMs: 600_000 } as const;
/** Nodes that were switched on together do not ask together. */
const FIRST_MS = 5000;

interface HubTurnOptions {
  readonly enrolment: Pick<Enrolment, 'turn' | 'place' | 'onChange'>;
  readonly file: string;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Keeps credentials for the hub's TURN servers on the disk, for svc-video; asked for anew from half of their life, by this node's own
 * steady time: its clock may be wrong. While the hub is away the last ones stay; they end by the server's clock.
 */
export class HubTurn {
  readonly #options: HubTurnOptions;
  readonly #backoff = new Backoff(RETRY.firstMs, RETRY.capMs);
  #timer: NodeJS.Timeout | null = null;
  #forget: (() => void) | null = null;
  #problem: string | null = null;
  #busy = false;

  constructor(options: HubTurnOptions) {
    this.#options = options;
  }

  start(): void {
    this.#forget = this.#options.enrolment.onChange(() => this.#askIn(0));
    this.#askIn(FIRST_MS * this.#options.random());
  }

  stop(): void {
    this.#forget?.();
    this.#forget = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #askIn(ms: number): void {
    if (this.#forget === null) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(
      contained('hub turn', async () => this.#ask()),
      ms,
    );
  }

  async #ask(): Promise<void> {
    const { enrolment, file, log, random } = this.#options;
    // Another change comes while this one is under way: once more, at once after it.
    if (this.#busy) {
      this.#askIn(RETRY.firstMs);
      return;
    }
    this.#busy = true;
    try {
      const place = enrolment.place();
      if (place === null) return; // leaving has removed the file
      const grant = await enrolment.turn();
      if (grant === null || enrolment.place()?.fleet !== place.fleet) return;
      if (grant.ice_servers.length === 0) await turnFile(file).remove();
      else await turnFile(file).write(grant);
      this.#backoff.reset();
      this.#problem = null;
      this.#askIn(grant.ttl_s * 1000 * (0.4 + random() / 10));
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem) log.warn(`fleet: no TURN credentials: ${problem}`);
      this.#problem = problem;
      this.#askIn(this.#backoff.next());
    } finally {
      this.#busy = false;
    }
  }
}
