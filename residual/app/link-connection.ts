import { tell } from '../../shared/async/tell.ts';
import type { CameraRequest } from '../../shared/rpc/camera.ts';
import { type Calls, clientOf } from '../../shared/rpc/contract.ts';
import { LINK } from '../../shared/rpc/link.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';

/** What may be heard of svc-link. */
interface LinkListener {
  state?(state: LinkState): void;
  camera?(request: CameraRequest): void;
  connection?(connected: boolean): void;
}

/** The one connection of this process to svc-link, which tells its whole state to each ten times a second. */
export class LinkConnection {
  readonly #listeners = new Set<LinkListener>();
  readonly #client;

  /** @param path of `link.sock` */
  constructor(path: string) {
    this.#client = clientOf(LINK, {
      path,
      listeners: {
        state: (state) => this.#tell((each) => each.state?.(state)),
        camera: (request) => this.#tell((each) => each.camera?.(request)),
      },
      onConnection: (connected) => this.#tell((each) => each.connection?.(connected)),
    });
  }

  get calls(): Calls<typeof LINK> {
    return this.#client.calls;
  }

  get connected(): boolean {
    return this.#client.connected;
  }

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#client.stop();
  }

  /** A listener hears the next state within half a second. @returns a function that ends it */
  follow(listener: LinkListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(what: (listener: LinkListener) => void): void {
    for (const listener of this.#listeners) tell('svc-link', what, listener);
  }
}
