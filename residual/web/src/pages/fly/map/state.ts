import { effect, signal } from '@preact/signals';
import { relayed } from '../../../api/relay.ts';
import { steady } from '../../../api/steady.ts';
import { newest } from '../../../api/telemetry.ts';
import { choices, choose } from '../../../map/choices.ts';
import { Glide, type Pose } from '../../../map/glide.ts';
import { distance, type Place, Projection, type View } from '../../../map/projection.ts';
import { lastPlace, phase } from '../../../vehicle/vehicle-state.ts';

/** What the map of the page shows, kept when another page is shown in between. */

/** Where the vehicle is to go, as it was tapped or typed; null: nowhere yet. `taken`: it goes there. */
export const target = signal<{ readonly lat: string; readonly lon: string; readonly taken?: true } | null>(
  null,
);
/** So near it has arrived, m. */
const ARRIVED_M = 4;
/** What is measured; null: nothing. */
export const ruler = signal<readonly Place[] | null>(null);
/** Null: nothing was looked at yet. */
export const view = signal<View | null>(null);
export const following = signal(true);

/** Of the map that something covers at its edges, px. */
export interface Insets {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

export const glide = new Glide();

/** How far down a vehicle is whose way ahead is up. */
const LOWER = 0.68;

// As it is on the screen, which `view` is told of a little later.
let live: View | null = null;

// Another vehicle is somewhere else.
effect(() => {
  void relayed.value;
  target.value = null;
  ruler.value = null;
  view.value = null;
  live = null;
  following.value = true;
});

/** Where the vehicle was last told to be; as long as that is the same, nothing moves. */
export const told = steady<Pose | null>(() => {
  const place = lastPlace.value;
  return place === null ? null : { place, heading: newest.value?.position.heading ?? null };
});
effect(() => glide.tell(told.value, performance.now()));

// It is there, or it was told something else, or it is on the ground.
effect(() => {
  const aim = target.value;
  if (aim?.taken === undefined) return;
  const place = lastPlace.value;
  const isThere =
    place !== null && distance(place, { lat: Number(aim.lat), lon: Number(aim.lon) }) < ARRIVED_M;
  if (isThere || phase.value !== 'flight') target.value = null;
});

/** The view that follows the vehicle; null: it is not to be followed, or nowhere. */
export function followed(shown: Projection, now: number, insets: Insets): View | null {
  const pose = following.peek() ? glide.at(now) : null;
  if (pose === null) {
    live = shown.view;
    return null;
  }
  const { headingUp } = choices.peek();
  const bearing = headingUp ? (pose.heading ?? shown.bearing) : 0;
  const turned = new Projection({ ...shown.view, ...pose.place, bearing }, shown.width, shown.height);
  const across = shown.width - insets.left - insets.right;
  const along = shown.height - insets.top - insets.bottom;
  live = turned.viewWith(pose.place, {
    x: insets.left + across / 2,
    y: insets.top + along * (headingUp ? LOWER : 0.5),
  });
  return live;
}

/** Begins or ends to follow; the map stays where it is. */
export function follow(on: boolean): void {
  if (!on && live !== null) view.value = live;
  following.value = on;
}

/** The vehicle's way ahead is up, or north again. */
export function turnWithVehicle(on: boolean): void {
  choose({ headingUp: on });
  if (!on && live !== null) view.value = { ...live, bearing: 0 };
}

/** A place as text, about a centimetre near. */
export function aimAt({ lat, lon }: Place): void {
  target.value = { lat: lat.toFixed(7), lon: lon.toFixed(7) };
}
