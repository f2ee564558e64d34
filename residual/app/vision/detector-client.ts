import { ApiError, messageOf } from '../../../shared/errors.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';
import { type Calls, type Client, clientOf } from '../../../shared/rpc/contract.ts';
import { type Restarted, SUPERVISOR } from '../../../shared/rpc/supervisor.ts';
import { type DetectorState, type DetectorStatus, VISION } from '../../../shared/rpc/vision.ts';
import type { DetectionFeed } from './detection-feed.ts';

/** As svc-vision tells it, and what can be said without it. */
export interface VisionStatus extends Omit<DetectorStatus, 'state' | 'model_id' | 'frames' | 'dropped'> {
  readonly state: DetectorState | 'off' | 'down';
  readonly model_id: string | null;
  readonly frames: number | null;
  readonly dropped: number | null;
}

/** All unknown: nothing of it was measured. */
const UNKNOWN = {
  fps: null,
  latency_ms: null,
  inference_ms: null,
  threads: null,
  rate_hz: null,
  frames: null,
  dropped: null,
  memory_mb: null,
  designated: null,
} as const;

interface DetectorClientOptions {
  readonly visionSocket: string;
  readonly supervisorSocket: string;
  /** What svc-vision detects goes in here. */
  readonly feed: DetectionFeed;
  /** Each status of svc-vision; null: it is gone. */
  readonly onStatus: (status: DetectorStatus | null) => void;
}

/** svc-vision, as the rest of this process knows it. */
export class DetectorClient {
  readonly #client: Client<typeof VISION>;
  readonly #supervisor: Client<typeof SUPERVISOR>;
  #status: DetectorStatus | null = null;

  constructor({ visionSocket, supervisorSocket, feed, onStatus }: DetectorClientOptions) {
    this.#client = clientOf(VISION, {
      path: visionSocket,
      listeners: {
        batch: (batch) => feed.publish(batch),
        status: (status) => {
          this.#status = status;
          onStatus(status);
        },
      },
      onConnection: () => {
        this.#status = null;
        feed.forget(VISION.server);
        onStatus(null);
      },
      away: () =>
        new ApiError('E_UPSTREAM_DOWN', 'No detector is running at the moment.', {}, { 'retry-after': '1' }),
    });
    this.#supervisor = clientOf(SUPERVISOR, { path: supervisorSocket });
  }

  start(): void {
    this.#client.start();
    this.#supervisor.start();
  }

  stop(): void {
    this.#client.stop();
    this.#supervisor.stop();
  }

  get connected(): boolean {
    return this.#client.connected;
  }

  /** The calls of svc-vision; E_UPSTREAM_DOWN while it is away. */
  get calls(): Calls<typeof VISION> {
    return this.#client.calls;
  }

  /** @param chosen the model in the config; empty: none */
  async status(chosen: string): Promise<VisionStatus> {
    if (this.#status !== null) return this.#status;
    if (chosen === '') return { ...UNKNOWN, state: 'off', model_id: null, last_error: null };
    return { ...UNKNOWN, state: 'down', model_id: chosen, last_error: await this.#lastWords() };
  }

  /** Starts, restarts or stops svc-vision, as the config says now. @throws ApiError, with what is stored all the same */
  async restart(): Promise<Restarted> {
    try {
      return await this.#supervisor.calls.restart({ name: VISION.server });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError(error.code, `The choice is stored. ${error.message}`, error.extras);
    }
  }

  async #lastWords(): Promise<string> {
    try {
      const { services } = await this.#supervisor.calls.status({});
      const found = services.find(({ name }) => name === VISION.server);
      if (found === undefined) return 'svc-vision is not started: it needs video, and a restart of its own.';
      const { state, last_exit: exit, last_words: words } = found;
      const last = messageIn(words.at(-1) ?? '');
      return exit === null ? `svc-vision is ${state}.` : `svc-vision ended with ${exit}: ${last}`;
    } catch (error) {
      return messageOf(error);
    }
  }
}

/** The message of a line of the log; another line as it is. */
function messageIn(line: string): string {
  try {
    const msg = memberOf(parseJson(line), 'msg');
    return typeof msg === 'string' ? msg : line;
  } catch {
    return line; // the runtime's own last words
  }
}
