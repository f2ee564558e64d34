import { ApiError } from '../../../shared/errors.ts';
import { type Calls, type Client, clientOf } from '../../../shared/rpc/contract.ts';
import { type EngineStatus, VIDEO, type ViewerStatus } from '../../../shared/rpc/video.ts';

/** The residual's client of svc-video. */
export class EngineClient {
  readonly #client: Client<typeof VIDEO>;
  #status: EngineStatus | null = null;

  /** @param onStatus called with each status of svc-video; `isNew` for the first one of a connection */
  constructor(socketPath: string, onStatus: (status: EngineStatus, isNew: boolean) => void) {
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
      away: noEngine,
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

  /** The calls of svc-video; E_NO_PIPELINE while it is away. */
  get calls(): Calls<typeof VIDEO> {
    return this.#client.calls;
  }
}

export function noEngine(): ApiError {
  return new ApiError(
    'E_NO_PIPELINE',
    'The video process is not running at the moment.',
    {},
    { 'retry-after': '1' },
  );
}
