import { seededRandom } from '../../../../shared/random.ts';
import { HAZE, mixed, SKY, yuv } from './colours.ts';
import { NOISE_SIDE, noiseTile } from './noise.ts';
import type { Planes } from './planes.ts';

/** Steps of how steeply a ray goes up; beyond the last the sky has one colour. */
const STEPS = 512;
const PER_SLOPE = 512;
/** Clouds lie on a plane at this height above the camera, in units of the tile's dots. */
const CLOUD_HEIGHT = 11;
const CHUNK = 4;

/** The sky: haze at the horizon, blue above, and a few clouds. */
export class Sky {
  readonly #y = new Uint8Array(STEPS);
  readonly #u = new Uint8Array(STEPS);
  readonly #v = new Uint8Array(STEPS);
  /** How much of a cloud shows at that slope, 0 to 255. */
  readonly #shows = new Uint8Array(STEPS);
  /** 0: none, to 127. */
  readonly #clouds: Uint8Array;

  constructor() {
    for (let step = 0; step < STEPS; step++) {
      const up = step / PER_SLOPE;
      const blue = 1 - Math.exp(-up * 3.4);
      const colour = mixed(mixed(HAZE, SKY.horizon, Math.min(1, up * 12)), SKY.zenith, blue);
      [this.#y[step], this.#u[step], this.#v[step]] = yuv(colour);
      this.#shows[step] = 255 * Math.min(1, Math.max(0, (up - 0.03) * 7));
    }
    this.#clouds = Uint8Array.from(noiseTile(seededRandom(7), 8, 4), (value) =>
      Math.max(0, Math.min(90, (value - 12) * 1.6)),
    );
  }

  luma(
    out: Uint8Array,
    row: number,
    from: number,
    to: number,
    d0: number,
    dd: number,
    e0: number,
    de: number,
    n0: number,
    dn: number,
  ): void {
    for (let x = from; x < to; x += CHUNK) {
      const end = Math.min(to, x + CHUNK);
      const middle = (x + end) / 2;
      const up = Math.max(1e-3, -(d0 + middle * dd));
      const step = Math.min(STEPS - 1, (up * PER_SLOPE) | 0);
      let value = this.#y[step] ?? 0;
      const shows = this.#shows[step] ?? 0;
      if (shows > 0) {
        const far = CLOUD_HEIGHT / up;
        const column = ((e0 + middle * de) * far) & (NOISE_SIDE - 1);
        const line = ((n0 + middle * dn) * far) & (NOISE_SIDE - 1);
        value = Math.min(232, value + (((this.#clouds[line * NOISE_SIDE + column] ?? 0) * shows) >> 8));
      }
      for (let at = row + x; at < row + end; at++) out[at] = value;
    }
  }

  chroma(
    { u, v }: Planes,
    rowU: number,
    rowV: number,
    from: number,
    to: number,
    d0: number,
    dd: number,
  ): void {
    for (let x = from; x < to; x += CHUNK) {
      const end = Math.min(to, x + CHUNK);
      const up = Math.max(0, -(d0 + ((x + end) / 2) * dd));
      const step = Math.min(STEPS - 1, (up * PER_SLOPE) | 0);
      u.fill(this.#u[step] ?? 0, rowU + x, rowU + end);
      v.fill(this.#v[step] ?? 0, rowV + x, rowV + end);
    }
  }
}
