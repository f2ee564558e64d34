import type { Made } from '../schemas/made.ts';
import { type Batch, bbox, type visionStatus } from '../schemas/vision.ts';
import { type Contract, method, shape } from './contract.ts';
import type { Done } from './video.ts';

/**
 * `measuring`: the first seconds, in which it tries how many threads and pictures a second leave the rest of the node alone;
 * `waiting`: no pictures come.
 */
export type DetectorState = 'loading' | 'measuring' | 'running' | 'waiting' | 'failed';

/** What a client has pointed at. */
export type Designated = NonNullable<Made<typeof visionStatus>['designated']>;

/** Null: not measured yet. */
export interface DetectorStatus {
  readonly state: DetectorState;
  readonly model_id: string;
  /** Pictures a second that were looked at, over the last seconds. */
  readonly fps: number | null;
  /** From the picture to its detections, median of the last ones. */
  readonly latency_ms: number | null;
  /** The inference alone. */
  readonly inference_ms: number | null;
  readonly threads: number | null;
  /** What it has decided to look at, at most. */
  readonly rate_hz: number | null;
  /** Pictures that were looked at, since it started. */
  readonly frames: number;
  /** Pictures that were due and not looked at, as it was still busy. */
  readonly dropped: number;
  readonly memory_mb: number | null;
  readonly designated: Designated | null;
  readonly last_error: string | null;
}

const NOTHING = { type: 'object', additionalProperties: false } as const;
const CALL_MS = 2000;

/** The contract of svc-vision on `vision.sock`. */
export const VISION = {
  server: 'svc-vision',
  methods: {
    status: method(NOTHING, shape<DetectorStatus>(), CALL_MS),
    /** Follows what is in this box of the newest picture, or has this number. Errors: E_NOT_FOUND if nothing is there. */
    designate: method(
      {
        type: 'object',
        oneOf: [
          { properties: { bbox: true }, required: ['bbox'] },
          { properties: { track_id: true }, required: ['track_id'] },
        ],
        properties: {
          bbox,
          track_id: { type: 'integer', minimum: 1 },
          class_label: { type: 'string', maxLength: 64 },
        },
        additionalProperties: false,
      },
      shape<Designated>(),
      CALL_MS,
    ),
    /** Follows nothing in particular any more. */
    release: method(NOTHING, shape<Done>(), CALL_MS),
  },
  events: {
    /** After each picture that was looked at, also with no detection in it. */
    batch: shape<Batch>(),
    /** At once on connect, every second, and when the state or the designated target changes. */
    status: shape<DetectorStatus>(),
  },
} as const satisfies Contract;
