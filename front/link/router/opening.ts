import { STX_V1, STX_V2 } from '../../../shared/mavlink/frame-head.ts';
import { Framer } from '../../../shared/mavlink/framer.ts';
import type { Clock } from '../clock.ts';

/** Whether a datagram begins with a whole frame with a right checksum: only then its sender becomes a peer. */
export class Opening {
  readonly #clock: Clock;
  #proved = false;
  readonly #proof = new Framer(({ known }) => {
    this.#proved ||= known;
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isMavlink(bytes: Buffer): boolean {
    if (bytes[0] !== STX_V1 && bytes[0] !== STX_V2) return false;
    this.#proved = false;
    this.#proof.reset();
    this.#proof.push(bytes, this.#clock.now());
    return this.#proved;
  }
}
