import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type Client, clientOf } from '../../../shared/rpc/contract.ts';
import { VIDEO } from '../../../shared/rpc/video.ts';

/** More than any encoder makes: no limit. */
const NO_LIMIT_KBPS = 1_000_000;

interface MeteredVideoDeps {
  readonly videoSocket: string;
  /** The most while a metered uplink is used (`network.metered_video_kbps`). */
  readonly kbps: number;
  readonly log: Logger;
}

/** Keeps the encoder below a ceiling while what it makes costs by volume. Without svc-video there is nothing to do. */
export class MeteredVideo {
  readonly #deps: MeteredVideoDeps;
  readonly #client: Client<typeof VIDEO>;
  #metered = false;

  constructor(deps: MeteredVideoDeps) {
    this.#deps = deps;
    this.#client = clientOf(VIDEO, {
      path: deps.videoSocket,
      // A new svc-video knows of no limit.
      onConnection: (connected) => {
        if (connected && this.#metered) this.#tell();
      },
    });
  }

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#client.stop();
  }

  set(metered: boolean): void {
    if (metered === this.#metered) return;
    this.#metered = metered;
    this.#tell();
  }

  #tell(): void {
    const { kbps, log } = this.#deps;
    this.#client.calls
      .limit({ bitrate_kbps: this.#metered ? kbps : NO_LIMIT_KBPS, key: false, of: 'uplink' })
      .catch((error: unknown) => log.debug(`uplinks: svc-video takes no limit: ${messageOf(error)}`));
  }
}
