/** Where a camera is and how it is held. Metres east and north of the pad and above its ground; rad, as MAVLink's ATTITUDE. */
export interface Pose {
  readonly e: number;
  readonly n: number;
  readonly up: number;
  readonly roll: number;
  /** Positive: nose up. */
  readonly pitch: number;
  readonly yaw: number;
}

/** The camera is mounted so far below the nose, rad: in level flight the horizon is in the upper part of the picture. */
const TILT = (25 * Math.PI) / 180;
/** Its gimbal takes out most of the pitch, so that what lies ahead stays in sight while the vehicle speeds up and brakes. */
const PITCH_SHARE = 0.4;
/** Half of what it sees from left to right, as a tangent: 96 degrees. */
const SIDE_TANGENT = Math.tan((48 * Math.PI) / 180);
/** The camera's height above the ground while the vehicle stands. */
const STANDING_M = 1.1;
const HIGHEST_M = 30_000;
const FURTHEST_M = 100_000;

/** A vector: east, north, down. */
interface Vector {
  e: number;
  n: number;
  d: number;
}

/** What a camera sees, for a picture of one size: the directions of its axes, and points of the world in its picture. */
export class View {
  readonly width: number;
  readonly height: number;
  /** Pixels to a tangent of 1. */
  readonly focal: number;
  e = 0;
  n = 0;
  /** Above the ground, m, always some. */
  up = STANDING_M;
  readonly ahead: Vector = { e: 0, n: 1, d: 0 };
  readonly right: Vector = { e: 1, n: 0, d: 0 };
  readonly down: Vector = { e: 0, n: 0, d: 1 };

  /** @param width @param height pixels */
  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    // A picture that is higher than wide sees as much from top to bottom.
    this.focal = Math.max(width, height) / 2 / SIDE_TANGENT;
  }

  /** Whatever the vehicle says, the view is one: what is not a number counts as 0, and no place is below the ground. */
  look(pose: Pose): void {
    this.e = bounded(pose.e, -FURTHEST_M, FURTHEST_M);
    this.n = bounded(pose.n, -FURTHEST_M, FURTHEST_M);
    this.up = STANDING_M + bounded(pose.up, 0, HIGHEST_M);
    const [cr, sr] = turn(pose.roll);
    const [cp, sp] = turn(pose.pitch * PITCH_SHARE);
    const [cy, sy] = turn(pose.yaw);
    const { ahead, right, down } = this;
    // The axes of the vehicle (yaw, then pitch, then roll).
    const nose = { n: cy * cp, e: sy * cp, d: -sp };
    right.n = -sy * cr + cy * sp * sr;
    right.e = cy * cr + sy * sp * sr;
    right.d = cp * sr;
    const belly = { n: sy * sr + cy * sp * cr, e: -cy * sr + sy * sp * cr, d: cp * cr };
    const [ct, st] = [Math.cos(TILT), Math.sin(TILT)];
    ahead.n = nose.n * ct + belly.n * st;
    ahead.e = nose.e * ct + belly.e * st;
    ahead.d = nose.d * ct + belly.d * st;
    down.n = belly.n * ct - nose.n * st;
    down.e = belly.e * ct - nose.e * st;
    down.d = belly.d * ct - nose.d * st;
  }

  /** How far a point lies ahead of the camera, m; below 0: behind it. @param up above the ground */
  depth(e: number, n: number, up: number): number {
    const { ahead } = this;
    return (e - this.e) * ahead.e + (n - this.n) * ahead.n + (this.up - up) * ahead.d;
  }

  across(e: number, n: number, up: number): number {
    const { right } = this;
    return (e - this.e) * right.e + (n - this.n) * right.n + (this.up - up) * right.d;
  }

  below(e: number, n: number, up: number): number {
    const { down } = this;
    return (e - this.e) * down.e + (n - this.n) * down.n + (this.up - up) * down.d;
  }
}

function bounded(value: number, least: number, most: number): number {
  return Number.isFinite(value) ? Math.max(least, Math.min(most, value)) : Math.max(least, 0);
}

function turn(angle: number): readonly [cosine: number, sine: number] {
  return Number.isFinite(angle) ? [Math.cos(angle), Math.sin(angle)] : [1, 0];
}
