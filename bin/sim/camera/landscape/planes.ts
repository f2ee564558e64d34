/** The planes of a picture in planar YUV 4:2:0, limited range. */
export interface Planes {
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
  /** Bytes from one row to the next, for y, u and v. */
  readonly strides: readonly [number, number, number];
}
