import { MAX_PAYLOAD } from './air-frame.ts';

/** As wfb-ng's `mavlink_agg_timeout`. */
const WAIT_MS = 100;

/** Puts MAVLink frames together to one packet, as wfb-ng does. */
export class Gather {
  readonly #send: (packet: Buffer) => void;
  #waiting: Buffer[] = [];
  #length = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (packet: Buffer) => void) {
    this.#send = send;
  }

  add(frames: Buffer): void {
    if (this.#length + frames.length > MAX_PAYLOAD) this.#flush();
    this.#waiting.push(frames);
    this.#length += frames.length;
    this.#timer ??= setTimeout(() => this.#flush(), WAIT_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #flush(): void {
    this.stop();
    this.#timer = null;
    const packet = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#length = 0;
    if (packet.length > 0) this.#send(packet);
  }
}
