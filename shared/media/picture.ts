import type { Frame } from 'node-av/lib';
import type { VideoCodec } from '../rpc/video.ts';

/** The pictures in the engine. Times: `at` of the monotonic clock that all processes share, `capturedAt` of the wall. */

/** One raw picture. A receiver may use it until it returns; to keep it, clone the frame. */
export interface Picture {
  readonly frame: Frame;
  /** Unix time of capture, ms; of arrival if the source does not report it. */
  readonly capturedAt: number;
  /** CLOCK_MONOTONIC at capture, microseconds. */
  readonly at: number;
}

/** One encoded picture: an access unit in Annex B, the parameter sets before every key frame. */
export interface AccessUnit {
  readonly codec: VideoCodec;
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

/** A pause between the two readings is noticed and read again; so often at most. */
const READINGS = 8;

/** Both clocks at one instant, to a millisecond. @returns Unix ms, and microseconds of CLOCK_MONOTONIC */
export function instant(clock: VideoClock): { readonly capturedAt: number; readonly at: number } {
  for (let left = READINGS; ; left--) {
    const before = clock.micros();
    const capturedAt = clock.wall();
    const at = clock.micros();
    if (at - before < 1000 || left === 1) return { capturedAt, at };
  }
}

export function systemVideoClock(): VideoClock {
  return { wall: () => Date.now(), micros: () => Number(process.hrtime.bigint() / 1000n) };
}
