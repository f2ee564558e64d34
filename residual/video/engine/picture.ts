import type { Frame } from 'node-av';

/** The pictures in the engine. Times: `at` of the monotonic clock that all processes share, `capturedAt` of the wall. */

/** One raw picture. A receiver may use it until it returns; to keep it, clone the frame. */
export interface Picture {
  readonly frame: Frame;
  /** Unix time of capture, ms; of arrival if the source does not report it. */
  readonly capturedAt: number;
  /** CLOCK_MONOTONIC at capture, microseconds. */
  readonly at: number;
}

/** One encoded picture: an H.264 access unit in Annex B, SPS and PPS before every key frame. */
export interface AccessUnit {
  readonly data: Buffer;
  readonly key: boolean;
  readonly capturedAt: number;
  readonly at: number;
}

/** Of a picture, pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface VideoClock {
  /** Unix time, ms. */
  wall(): number;
  /** CLOCK_MONOTONIC, microseconds: the same in every process of this machine. */
  micros(): number;
}

export function systemVideoClock(): VideoClock {
  return { wall: () => Date.now(), micros: () => Number(process.hrtime.bigint() / 1000n) };
}
