import { ApiError } from '../../../shared/errors.ts';
import { type Calls, type Client, clientOf } from '../../../shared/rpc/contract.ts';
import { type EngineStatus, VIDEO, type ViewerStatus } from '../../../shared/rpc/video.ts';

/** The residual's client of svc-video. */
export class EngineClient {
  readonly #client: Client<typeof VIDEO>;
  #status: EngineStatus | null = null;

  readonly #isOff: boolean;

  /**
   * @param onStatus called with each status of svc-video; `isNew` for the first one of a connection
   * @param isOff this node was started without video
   */
  constructor(socketPath: string, onStatus: (status: EngineStatus, isNew: boolean) => void, isOff = false) {
    this.#isOff = isOff;
    this.#client = clientOf(VIDEO, {
      path: socketPath,
      listeners: {
        status: (status) => {
          const isNew = this.#status === null;
          this.#status = status;
          onStatus(status, isNew);
        },
      },
      onConnection: () => {
        this.#status = null;
      },
      away: () => this.away,
    });
  }

  start(): void {
    this.#client.start();
  }

  stop(): void {
    this.#client.stop();
  }

  /** The last status of svc-video; null while it is away. */
  get status(): EngineStatus | null {
    return this.#status;
  }

  /** The present viewers. */
  get viewers(): readonly ViewerStatus[] {
    return this.#status?.viewers ?? [];
  }

  /** The reason that there is no status. */
  get away(): ApiError {
    return this.#isOff
      ? new ApiError('E_NO_PIPELINE', 'Video is off in the config (video.source: none).')
      : new ApiError('E_NO_PIPELINE', 'svc-video is not running.', {}, { 'retry-after': '1' });
  }

  /** The calls of svc-video; E_NO_PIPELINE while it is away. */
  get calls(): Calls<typeof VIDEO> {
    return this.#client.calls;
  }
}
