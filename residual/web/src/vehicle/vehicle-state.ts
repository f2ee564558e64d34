import { computed } from '@preact/signals';
import { type Family, familyOf } from '../../../../shared/flight/modes.ts';
import { isPlace } from '../../../../shared/mission/commands.ts';
import type { Answer } from '../api/rows.ts';
import { steady } from '../api/steady.ts';
import { age, armed, flight, fresh, lastArmed, newest } from '../api/telemetry.ts';
import type { Place } from '../map/projection.ts';

/** What several parts of the page read of the vehicle. */

export function placeOf({ lat, lon }: { lat?: number | null; lon?: number | null } = {}): Place | null {
  return typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : null;
}

/** Where it was last, however long ago. */
export const lastPlace = steady(() => placeOf(newest.value?.position));
export const home = steady(() => placeOf(newest.value?.home));

/** Null: not known, or without a mode table. */
export const family = computed<Family | null>(() => {
  const { autopilot, mav_type: type } = newest.value ?? {};
  return typeof autopilot === 'number' && typeof type === 'number' ? familyOf(autopilot, type) : null;
});

export const flies = computed(() => {
  const type = newest.value?.mav_type;
  // MAV_TYPE of rovers, boats and submarines.
  return type === null || type === undefined || ![10, 11, 12].includes(type);
});

export const hasMission = computed<boolean>(() => (newest.value?.mission?.total ?? 0) > 0);

/** There is a vehicle, and it is not heard. */
export const isSilent = computed(() => armed.value !== null && fresh('link', () => true) === null);

/**
 * What can be told to it now. `armed`: its motors are on, and it stands on the ground. One that is not heard is what it was last, and
 * one that was silent when the page was opened flies if it flew; one that does not say whether it flies is taken to fly.
 */
export type Phase = 'disarmed' | 'armed' | 'flight';
export const phase = computed<Phase>(() => {
  const last = newest.value?.landed_state ?? null;
  const isArmed =
    armed.value === 'unknown'
      ? (lastArmed.value ?? (last !== null && last !== 'on_ground'))
      : armed.value === true;
  if (!isArmed) return 'disarmed';
  const isLanded = isSilent.value ? last === 'on_ground' : flight.value === 'on_ground';
  return isLanded ? 'armed' : 'flight';
});

/** Whole seconds since the vehicle was heard; null: never. */
export const heardAgo = computed(() => {
  const seconds = age('link');
  return seconds === null ? null : Math.round(seconds);
});

type Mission = Extract<Answer<'mission.get'>, { readonly items: unknown }>;
export type Item = Mission['items'][number];

/** The items of a list as JSON; none where it came in another format, or not yet. */
export function itemsOf(answer: Answer<'mission.get'> | null): readonly Item[] {
  return answer !== null && typeof answer === 'object' && 'items' in answer && Array.isArray(answer.items)
    ? answer.items
    : [];
}

/** Where an item is; null for one without a place. */
export function itemPlace({ frame, command, x, y }: Item): Place | null {
  return frame === 2 || !isPlace(command) || (x === 0 && y === 0) ? null : { lat: x, lon: y };
}
