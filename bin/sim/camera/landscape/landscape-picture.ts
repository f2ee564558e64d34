import type { Landscape } from '../../../../shared/landscape/landscape.ts';
import { Ground } from './ground.ts';
import type { GroundLevels } from './ground-levels.ts';
import { hazeTables } from './haze.ts';
import type { Planes } from './planes.ts';
import { Scenery } from './scenery.ts';
import { type Pose, View } from './view.ts';

/** Draws the landscape as a camera at some place sees it. */
export class LandscapePicture {
  readonly #view: View;
  readonly #ground: Ground;
  readonly #scenery: Scenery;

  constructor(land: Landscape, levels: GroundLevels, width: number, height: number) {
    const haze = hazeTables();
    this.#view = new View(width, height);
    this.#ground = new Ground(levels, haze);
    this.#scenery = new Scenery(land, haze, width, height);
  }

  draw(planes: Planes, pose: Pose): void {
    this.#view.look(pose);
    this.#ground.draw(this.#view, planes);
    this.#scenery.draw(this.#view, planes);
  }
}
