import { effect, signal } from '@preact/signals';
import { knownPlace } from '../../../../shared/flight/known-place.ts';
import { credential } from './credential.ts';
import { relayed } from './relay.ts';
import { age, fresh, newest } from './telemetry.ts';

/** What is remembered of the flight while the page is open, whatever page is shown: the way flown, and since when it flies. */

export interface TrackPoint {
  readonly lat: number;
  readonly lon: number;
  /** Over ground, m/s; null: not known. */
  readonly speed: number | null;
  /** Above home, m; null: not known. */
  readonly height: number | null;
}

const MAX_POINTS = 5000;
// About a metre and a half; closer points would only fill the memory.
const STEP_DEG = 0.000_015;

export const track = signal<readonly TrackPoint[]>([]);

/** ms of `performance.now()` when it was seen to leave the ground; null: it does not fly, or flew before the page was opened. */
export const flyingSince = signal<number | null>(null);

/** Begins with the page, once. */
export function rememberFlight(): void {
  let landed: string | null = null;
  // Another vehicle has another track.
  effect(() => {
    void relayed.value;
    void credential.value;
    track.value = [];
    flyingSince.value = null;
    landed = null;
  });

  effect(() => {
    if (newest.value === null || age('position') === null) return;
    const place = fresh('position', ({ position }) => knownPlace(position));
    if (place !== null) {
      const points = track.peek();
      const last = points.at(-1);
      if (last === undefined || Math.abs(last.lat - place.lat) + Math.abs(last.lon - place.lon) > STEP_DEG)
        // A track that is full becomes coarser rather than shorter.
        track.value = [
          ...(points.length < MAX_POINTS ? points : points.filter((_, at) => at % 2 === 0)),
          {
            ...place,
            speed: fresh('velocity', ({ velocity }) => velocity.groundspeed),
            height: fresh('position', ({ position }) => position.alt_rel),
          },
        ];
    }
    const state = fresh('landed_state', ({ landed_state: now }) => now);
    if (state === null) return;
    if (state === 'on_ground') flyingSince.value = null;
    else if (landed === 'on_ground') flyingSince.value = performance.now();
    landed = state;
  });
}

export function forgetTrack(): void {
  track.value = [];
}
