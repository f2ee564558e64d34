import type { Clock } from '../clock.ts';

/** svc-control tells it again with each heartbeat; if it is gone, everybody may fly again. */
const FORGET_MS = 7000;

/** Which client is pilot in command, as svc-control says. */
export class PilotWatch {
  readonly #clock: Clock;
  #clientId: string | null = null;
  #toldAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell(clientId: string | null): void {
    this.#clientId = clientId;
    this.#toldAt = this.#clock.now();
  }

  get clientId(): string | null {
    return this.#clock.now() - this.#toldAt > FORGET_MS ? null : this.#clientId;
  }
}
