import { carry, Projection } from './projection.ts';

/**
 * A canvas larger than the map that is drawn once and then carried with the view: drawing thousands of points sixty times a second
 * is too much for a phone, moving their picture is not.
 */

const LARGER = 1.15;
/** A side at most, in the canvas's own pixels: 36 MB; a phone's finest screens are not seen so finely. */
const MOST_PX = 3000;
const MOST_RATIO = 2;
const APART_MS = 150;
/** While it would not fill the map any more. */
const HURRY_MS = 40;

export type Draw = (pen: CanvasRenderingContext2D, projection: Projection) => void;

export class CarriedCanvas {
  readonly #canvas: HTMLCanvasElement;
  readonly #draw: Draw;
  #drawn: Projection | null = null;
  #drawnAt = 0;
  #dirty = true;
  #for = { width: 0, height: 0 };

  constructor(canvas: HTMLCanvasElement, draw: Draw) {
    this.#canvas = canvas;
    this.#draw = draw;
  }

  /** What it shows has changed; drawn in the next frame that is not too near to the last. */
  touch(): void {
    this.#dirty = true;
  }

  /** Adds to what is drawn, in the same projection. */
  extend(draw: Draw): void {
    const pen = this.#canvas.getContext('2d');
    if (this.#drawn !== null && !this.#dirty && pen !== null) draw(pen, this.#drawn);
  }

  /** A painter of the map (frames.ts). */
  paint(live: Projection, now: number): boolean {
    const resized = this.#for.width !== live.width || this.#for.height !== live.height;
    const drawn = this.#drawn;
    const isOld = this.#dirty || drawn === null || drawn.view.zoom !== live.view.zoom;
    const since = now - this.#drawnAt;
    const due =
      drawn === null ||
      resized ||
      (isOld && since >= APART_MS) ||
      (!covers(drawn, live) && since >= HURRY_MS);
    if (due) this.#redraw(live, now);
    if (this.#drawn !== null) this.#canvas.style.transform = carry(this.#drawn, live);
    return isOld && !due;
  }

  #redraw(live: Projection, now: number): void {
    const side = Math.ceil(Math.hypot(live.width, live.height) * LARGER);
    const ratio = Math.min(devicePixelRatio, MOST_RATIO, MOST_PX / side);
    const canvas = this.#canvas;
    const pixels = Math.round(side * ratio);
    if (canvas.width !== pixels) {
      canvas.width = pixels;
      canvas.height = pixels;
    }
    Object.assign(canvas.style, {
      width: `${side}px`,
      height: `${side}px`,
      left: `${(live.width - side) / 2}px`,
      top: `${(live.height - side) / 2}px`,
    });
    this.#drawn = new Projection(live.view, side, side);
    this.#drawnAt = now;
    this.#dirty = false;
    this.#for = { width: live.width, height: live.height };
    const pen = canvas.getContext('2d');
    if (pen === null) return;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, side, side);
    this.#draw(pen, this.#drawn);
  }
}

/** Whether what was drawn fills the map, however it is turned. */
function covers(drawn: Projection, live: Projection): boolean {
  const { x, y } = live.toScreen(drawn.view);
  const off = Math.hypot(x - live.width / 2, y - live.height / 2);
  const reach = (drawn.width / 2) * (live.worldPx / drawn.worldPx);
  return off + Math.hypot(live.width, live.height) / 2 <= reach;
}
