import { Frames } from './frames.ts';
import { isSameView, type Point, Projection, turn, type View, ZOOM } from './projection.ts';

/** What a person did: moved the map, or only came nearer or went away. */
type Gesture = 'pan' | 'zoom';

export interface StageOwner {
  /** A person changed the view; told a few times a second while they do. */
  readonly onView: (view: View, gesture: Gesture) => void;
  /** At the first step of a pan, at once. */
  readonly onGrab?: () => void;
  /** Where the map is to be in this frame, while something else than a person moves it; null: where it is. */
  readonly drive?: ((live: Projection, now: number) => View | null) | undefined;
}

/** At least so long between two renderings, and between two times that the owner is told. */
const APART_MS = 150;
// As far as what was rendered may be from what is to be seen: it is carried there, but text leans and circles grow.
const CARRIED = { px: 64, zoom: 0.02, degrees: 2 } as const;

/** The view of one map: `live` is on the screen, `drawn` is what the layers were rendered for and are carried from. */
export class Stage {
  live: Projection;
  /** Set by the map when its layers are in the page. */
  drawn: Projection;
  readonly frames: Frames;
  owner: StageOwner;
  readonly #onRender: (projection: Projection) => void;
  #rendered: Projection;
  #renderedAt = 0;
  #owners: View;
  #told: View | null = null;
  #toldAt = 0;
  #pending: { readonly view: View; readonly gesture: Gesture } | null = null;

  constructor(view: View, owner: StageOwner, onRender: (projection: Projection) => void) {
    this.live = new Projection(view, 300, 300);
    this.drawn = this.live;
    this.#rendered = this.live;
    this.#owners = view;
    this.owner = owner;
    this.#onRender = onRender;
    this.frames = new Frames(
      () => this.live,
      (now) => this.#settle(now),
    );
  }

  /** The owner's wish; one that only gives back what it was told changes nothing. */
  take(view: View, { x: width, y: height }: Point): void {
    const wished = !isSameView(view, this.#owners) && (this.#told === null || !isSameView(view, this.#told));
    this.#owners = view;
    if (!wished && width === this.live.width && height === this.live.height) return;
    if (wished) this.#pending = null;
    this.live = new Projection(wished ? view : this.live.view, width, height);
    this.#render(performance.now());
    this.frames.wake();
  }

  /** By a person. */
  look(view: View, gesture: Gesture): void {
    if (gesture === 'pan') this.owner.onGrab?.();
    const kept = gesture === 'pan' || this.#pending?.gesture === 'pan' ? 'pan' : 'zoom';
    this.#pending = { view, gesture: kept };
    this.live = new Projection(view, this.live.width, this.live.height);
    this.frames.wake();
  }

  panBy(dx: number, dy: number): void {
    const { live } = this;
    this.look({ ...live.view, ...live.toPlace({ x: live.width / 2 - dx, y: live.height / 2 - dy }) }, 'pan');
  }

  /** Keeps the place under the pointer where it is. */
  zoomBy(step: number, around: Point = { x: this.live.width / 2, y: this.live.height / 2 }): void {
    const { live } = this;
    const zoom = Math.max(ZOOM.min, Math.min(ZOOM.max, live.view.zoom + step));
    const next = new Projection({ ...live.view, zoom }, live.width, live.height);
    this.look(next.viewWith(live.toPlace(around), around), 'zoom');
  }

  #settle(now: number): boolean {
    const driven = this.owner.drive?.(this.live, now) ?? null;
    if (driven !== null && !isSameView(driven, this.live.view))
      this.live = new Projection(driven, this.live.width, this.live.height);
    if (this.#pending !== null && now - this.#toldAt >= APART_MS) {
      const { gesture } = this.#pending;
      this.#pending = null;
      this.#toldAt = now;
      this.#told = this.live.view;
      this.owner.onView(this.live.view, gesture);
    }
    const isOff = driven === null ? !isSameView(this.#rendered.view, this.live.view) : this.#isFar();
    if (isOff && now - this.#renderedAt >= APART_MS) this.#render(now);
    else if (isOff) return true;
    return this.#pending !== null;
  }

  #isFar(): boolean {
    const { live } = this;
    const drawn = this.#rendered;
    const { x, y } = live.toScreen(drawn.view);
    return (
      Math.hypot(x - live.width / 2, y - live.height / 2) > CARRIED.px ||
      Math.abs(live.view.zoom - drawn.view.zoom) > CARRIED.zoom ||
      Math.abs(turn(live.bearing, drawn.bearing)) > CARRIED.degrees
    );
  }

  #render(now: number): void {
    this.#rendered = this.live;
    this.#renderedAt = now;
    this.#onRender(this.live);
  }
}
