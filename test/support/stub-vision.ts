import { ApiError } from '../../shared/errors.ts';
import { type Server, serverOf } from '../../shared/rpc/contract.ts';
import { type Designated, type DetectorStatus, VISION } from '../../shared/rpc/vision.ts';
import type { Batch, Detection } from '../../shared/schemas/vision.ts';

export const STATUS: DetectorStatus = {
  state: 'running',
  model_id: 'stub',
  fps: 5,
  latency_ms: 40,
  inference_ms: 30,
  threads: 1,
  rate_hz: 5,
  frames: 10,
  dropped: 2,
  memory_mb: 90,
  designated: null,
  last_error: null,
};

export function detectionOf(label: string, more: Partial<Detection> = {}): Detection {
  const bbox = { x: 10, y: 20, width: 30, height: 40 };
  return { bbox, class_label: label, confidence: 0.9, track_id: 1, lock_state: null, ...more };
}

export function batchOf(frame: number, ...detections: Detection[]): Batch {
  return {
    v: 1,
    source: 'svc-vision',
    model_id: 'stub',
    camera_id: 'main',
    frame_id: frame,
    ts_ms: 1_700_000_000_000 + frame,
    frame_width: 1280,
    frame_height: 720,
    latency_ms: 40,
    detections,
  };
}

/** In place of svc-vision, on its socket: one thing with the number 1 can be followed. */
export class StubVision {
  readonly server: Server<typeof VISION>;
  readonly #heard = Promise.withResolvers<void>();
  status: DetectorStatus = STATUS;
  /** The calls, in their order. */
  readonly calls: unknown[] = [];

  constructor(path: string) {
    this.server = serverOf(VISION, {
      path,
      greeting: () => [['status', this.status]],
      onConnection: () => this.#heard.resolve(),
      onError: (error) => process.emitWarning(String(error)),
      handlers: {
        status: () => this.status,
        designate: (target) => {
          this.calls.push(target);
          if ('track_id' in target && target.track_id !== 1) throw new ApiError('E_NOT_FOUND');
          return this.follow({ track_id: 1, lock_state: 'locked' }) ?? { track_id: 1, lock_state: 'locked' };
        },
        release: () => {
          this.calls.push('release');
          this.follow(null);
          return { done: true };
        },
      },
    });
  }

  /** Resolves when the node has connected. */
  async start(): Promise<void> {
    await this.server.start();
    await this.#heard.promise;
  }

  follow(designated: Designated | null): Designated | null {
    this.status = { ...this.status, designated };
    this.server.tell('status', this.status);
    return designated;
  }
}
