import { type ControlPacket, REPORTS_MS } from '../../../shared/media/rtcp.ts';

export interface Listener {
  readonly address: string;
  readonly port: number;
}

/** More than any node has at once: the camera that is shown, one that is to be, and glances. */
const MOST = 8;

/** Who listens: whoever has said so within the last 5 s, and no goodbye since. Pure: times come from outside, monotonic ms. */
export class Listeners {
  readonly #heard = new Map<string, Listener & { readonly at: number }>();
  #keyWanted = false;

  /** One who comes begins with a key frame. */
  hear({ bye, key }: ControlPacket, { address, port }: Listener, now: number): void {
    const name = `${address}:${port}`;
    this.#forget(now);
    const isNew = !this.#heard.has(name);
    if (bye) this.#heard.delete(name);
    else if (!isNew || this.#heard.size < MOST) {
      this.#heard.set(name, { address, port, at: now });
      if (isNew || key) this.#keyWanted = true;
    }
  }

  at(now: number): readonly Listener[] {
    this.#forget(now);
    return [...this.#heard.values()];
  }

  /** Whether somebody has wanted a key frame since the last one was made. */
  get keyWanted(): boolean {
    return this.#keyWanted;
  }

  onKey(): void {
    this.#keyWanted = false;
  }

  #forget(now: number): void {
    for (const [name, { at }] of this.#heard) if (now - at > REPORTS_MS.gone) this.#heard.delete(name);
  }
}
