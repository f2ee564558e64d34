import { ApiError } from '../../../shared/errors.ts';
import { type Calls, type Client, clientOf } from '../../../shared/rpc/contract.ts';
import { type EngineStatus, VIDEO, type ViewerStatus } from '../../../shared/rpc/video.ts';

/** svc-video as the residual sees it. */
export class EngineClient {
  readonly #client: Client<typeof VIDEO>;
  #status: EngineStatus | null = null;

  /** @param onStatus svc-video said how it is; `isNew` when it is the first time since it is there */
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

  /** What svc-video last said; null while it is away. */
  get status(): EngineStatus | null {
    return this.#status;
  }

  /** Who watches. */
  get viewers(): readonly ViewerStatus[] {
    return this.#status?.viewers ?? [];
  }

  /** What it can be asked for; E_NO_PIPELINE while it is away. */
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
