import { ApiError } from '../../shared/errors.ts';

/** svc-control is away or busy: it may take the same statement later. */
const LATER: ReadonlySet<string> = new Set(['E_UPSTREAM_DOWN', 'E_UPSTREAM', 'E_TIMEOUT', 'E_DRAINING']);

/**
 * The newest statement of a retained topic, given to svc-control until it has judged it. The broker sends it once a
 * connection, and svc-control may be away at that moment.
 */
export class RetainedStatement {
  readonly #give: (jws: string) => Promise<unknown>;
  readonly #refused: (error: unknown) => void;
  #waiting: string | null = null;
  #giving = false;

  constructor(give: (jws: string) => Promise<unknown>, refused: (error: unknown) => void) {
    this.#give = give;
    this.#refused = refused;
  }

  /** Resolves when it has been judged, or must be tried again later. */
  async take(jws: string): Promise<void> {
    this.#waiting = jws;
    await this.again();
  }

  /** Gives what is waiting once more; does nothing while there is nothing, or it is being given. */
  async again(): Promise<void> {
    if (this.#giving) return;
    this.#giving = true;
    try {
      while (this.#waiting !== null) {
        const jws = this.#waiting;
        const later = await this.#one(jws);
        if (this.#waiting === jws) {
          if (later) return;
          this.#waiting = null;
        }
      }
    } finally {
      this.#giving = false;
    }
  }

  /** @returns whether to try it again later */
  async #one(jws: string): Promise<boolean> {
    try {
      await this.#give(jws);
      return false;
    } catch (error) {
      if (error instanceof ApiError && LATER.has(error.code)) return true;
      this.#refused(error);
      return false;
    }
  }
}
