/**
 * Raw pictures over `frames.sock`, for a process that looks at them. A client asks for each picture, so svc-video scales only
 * what somebody is ready for, and nothing waits in between. One request is open on a connection at a time:
 *
 * - client to svc-video: one line of JSON, `FrameRequest`
 * - svc-video to client: 4 bytes length (big endian) of a JSON `FrameHeader`, the header, then `width * height * 3` bytes, RGB,
 *   8 bits each, row by row. It is the next picture after the one that this connection had last. Where none comes, the answer
 *   waits.
 */

/** The picture is scaled to fit inside, in its own shape, and is never enlarged. */
export interface FrameRequest {
  readonly width: number;
  readonly height: number;
}

export interface FrameHeader {
  /** Counts the pictures of the source, since svc-video started. */
  readonly frame_id: number;
  /** Unix time of capture, ms. */
  readonly captured_at_ms: number;
  /** CLOCK_MONOTONIC at capture, microseconds: the same in every process of this machine. */
  readonly at_us: number;
  /** Of the camera's picture, pixels. */
  readonly frame_width: number;
  readonly frame_height: number;
  /** Of what follows, pixels. */
  readonly width: number;
  readonly height: number;
}

/** Sides of a request, pixels. */
export const FRAME_SIDE = { least: 16, most: 1920 } as const;
