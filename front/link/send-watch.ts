import type { Clock } from './clock.ts';

/** No datagram has gone out for this long although some were sent: the socket is of no use any more. */
const BROKEN_MS = 2000;

/**
 * The results of a UDP socket's sends. Node tells a failure only to a callback, and a socket whose own address has gone (DHCP
 * gave another one) fails for ever: after 2 s of failures and no success it is to be opened anew.
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

  /** The callback of every send; one function, so that a send allocates none. */
  readonly done = (error: NodeJS.ErrnoException | null): void => {
    // Nobody listens at the other end yet: that went out, and was answered.
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
