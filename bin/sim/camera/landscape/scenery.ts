import type { Landscape } from '../../../../shared/landscape/landscape.ts';
import { Brush } from './brush.ts';
import { Forest, MOST_SEEN } from './forest.ts';
import type { HazeTables } from './haze.ts';
import { Building } from './houses.ts';
import type { Planes } from './planes.ts';
import type { View } from './view.ts';

/** Houses are drawn up to this distance, m. */
const FURTHEST_M = 2600;
/** Distances are sorted by steps: so many a metre near the camera. */
const BINS = 2048;

/** What stands on the ground, drawn from the furthest to the nearest. */
export class Scenery {
  readonly #haze: HazeTables;
  readonly #forest: Forest;
  readonly #buildings: readonly Building[];
  readonly #brush: Brush;
  readonly #bins = new Int32Array(BINS + 1);
  readonly #order: Int32Array;
  readonly #binOf: Int32Array;

  constructor(land: Landscape, haze: HazeTables, width: number, height: number) {
    this.#haze = haze;
    this.#forest = new Forest(land.trees);
    this.#buildings = land.houses.map((house) => new Building(house));
    this.#brush = new Brush(width, height);
    this.#order = new Int32Array(MOST_SEEN + this.#buildings.length);
    this.#binOf = new Int32Array(MOST_SEEN + this.#buildings.length);
  }

  draw(view: View, planes: Planes): void {
    const forest = this.#forest;
    const brush = this.#brush;
    forest.look(view);
    brush.begin(planes);
    const trees = forest.count;
    const total = trees + this.#buildings.length;
    this.#bins.fill(0);
    for (let at = 0; at < total; at++) {
      const bin = binOf(at < trees ? (forest.depth[at] ?? 0) : this.#depthOf(at - trees, view));
      this.#binOf[at] = bin;
      this.#bins[bin] = (this.#bins[bin] ?? 0) + 1;
    }
    for (let bin = 1; bin < BINS; bin++)
      this.#bins[bin] = (this.#bins[bin] ?? 0) + (this.#bins[bin - 1] ?? 0);
    for (let at = total - 1; at >= 0; at--) {
      const bin = this.#binOf[at] ?? 0;
      const place = (this.#bins[bin] ?? 1) - 1;
      this.#bins[bin] = place;
      this.#order[place] = at;
    }
    for (let place = 0; place < total; place++) {
      const at = this.#order[place] ?? 0;
      if (at < trees) forest.draw(forest.seen[at] ?? 0, view, brush, this.#haze);
      else if (this.#binOf[at] !== BINS - 1) this.#buildings[at - trees]?.draw(view, brush, this.#haze);
    }
  }

  /** Out of sight: beyond everything. */
  #depthOf(at: number, view: View): number {
    const building = this.#buildings[at];
    if (building === undefined) return 0;
    const z = view.depth(building.e, building.n, 4);
    const side = (view.width / 2 / view.focal) * Math.max(0, z) + 40;
    const isSeen = z > -30 && z < FURTHEST_M && Math.abs(view.across(building.e, building.n, 4)) < side;
    return isSeen ? Math.max(0.5, z) : 0;
  }
}

/** The furthest first; the last bin is for what is not seen. */
function binOf(depth: number): number {
  if (depth <= 0) return BINS - 1;
  const near = Math.log2(depth + 1) / Math.log2(FURTHEST_M + 2);
  return Math.max(0, Math.min(BINS - 2, Math.floor((1 - near) * (BINS - 2))));
}
