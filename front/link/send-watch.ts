import type { Clock } from './clock.ts';

/** A socket whose sends have all failed for this long is considered broken. */
const BROKEN_MS = 2000;

/**
 * The results of a UDP socket's sends. Node reports a failure only to the send's callback, and a socket whose local address is
 * gone (DHCP gave another one) fails forever. After 2 s of failures without a success it must be reopened.
 */
export class SendWatch {
  readonly #clock: Clock;
  readonly #onBroken: (error: Error) => void;
  #failingSince: number | null = null;

  /** @param onBroken called once for each 2 s of failures */
  constructor(clock: Clock, onBroken: (error: Error) => void) {
    this.#clock = clock;
    this.#onBroken = onBroken;
  }

  /** The callback of every send; one function, so that a send allocates no new one. */
  readonly done = (error: NodeJS.ErrnoException | null): void => {
    // Nobody listens at the other end yet: the datagram went out and was answered.
    if (error === null || error.code === 'ECONNREFUSED') {
      this.#failingSince = null;
      return;
    }
    const now = this.#clock.now();
    this.#failingSince ??= now;
    if (now - this.#failingSince < BROKEN_MS) return;
    this.#failingSince = null;
    this.#onBroken(error);
  };
}
