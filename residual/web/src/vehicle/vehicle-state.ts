import { computed, effect, signal } from '@preact/signals';
import { knownPlace } from '../../../../shared/flight/known-place.ts';
import { type Family, familyOf } from '../../../../shared/flight/modes.ts';
import { isPlace } from '../../../../shared/mission/commands.ts';
import { now } from '../api/presence.ts';
import type { Answer } from '../api/rows.ts';
import { steady } from '../api/steady.ts';
import { age, armed, flight, fresh, type Group, last, lastArmed, newest, oldness } from '../api/telemetry.ts';
import type { Place } from '../map/projection.ts';
import { span } from '../parts/format.ts';
import { t } from '../strings.ts';

/** What several parts of the page read of the vehicle. */

export function placeOf({ lat, lon }: { lat?: number | null; lon?: number | null } = {}): Place | null {
  return typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : null;
}

/** Where it is; null: not known now. What is made of its place is made of this. */
export const here = steady(() => fresh('position', ({ position }) => knownPlace(position)));
const toldPlace = steady(() => placeOf(newest.value?.position));
/** Where it was last, however long ago, and be it before it lost its position. */
export const lastPlace = signal<Place | null>(null);
effect(() => {
  if (newest.value === null) lastPlace.value = null;
  else if (toldPlace.value !== null) lastPlace.value = toldPlace.value;
});
export const home = steady(() => placeOf(newest.value?.home));

export const mavType = steady(() => last((body) => body.mav_type));

/** Null: not known, or without a mode table. */
export const family = computed<Family | null>(() => {
  const { autopilot } = newest.value ?? {};
  const type = mavType.value;
  return typeof autopilot === 'number' && typeof type === 'number' ? familyOf(autopilot, type) : null;
});

export const flies = computed(() => {
  // MAV_TYPE of rovers, boats and submarines.
  return ![10, 11, 12].includes(mavType.value ?? 0);
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
  const landed = newest.value?.landed_state ?? null;
  const isArmed =
    armed.value === 'unknown'
      ? (lastArmed.value ?? (landed !== null && landed !== 'on_ground'))
      : armed.value === true;
  if (!isArmed) return 'disarmed';
  const isLanded = isSilent.value ? landed === 'on_ground' : flight.value === 'on_ground';
  return isLanded ? 'armed' : 'flight';
});

/** How old that part is, where it is not of now, in words. */
export function agoText(group: Group): string | null {
  const seconds = oldness(group);
  return seconds === null ? null : t.alarm.ago({ age: span(seconds) });
}

/** Whole seconds since the vehicle was heard; null: never. */
export const heardAgo = computed(() => {
  const seconds = age('link');
  return seconds === null ? null : Math.round(seconds);
});

/** Its position is lost, or reckoned on without a fix; since when, as `performance.now()`, null: since before it was heard here. */
interface Astray {
  readonly state: 'lost' | 'estimated';
  readonly since: number | null;
}
/** Null: it knows where it is, or has not said. Stays while it is not heard. */
export const astray = signal<Astray | null>(null);
let hasKnown = false;
effect(() => {
  // As long as it is heard: of a place that is lost nothing new comes.
  const state = newest.value === null ? 'ok' : fresh('link', ({ position }) => position.state);
  if (state === null) return;
  hasKnown = newest.value !== null && (hasKnown || state === 'ok');
  if (state === 'ok') astray.value = null;
  else if (astray.peek()?.state !== state)
    astray.value = { state, since: hasKnown ? performance.now() : null };
});

/** For how long; null: not known, or it is not astray. */
export const astrayFor = computed<string | null>(() => {
  const since = astray.value?.since ?? null;
  return since === null ? null : span(Math.round(Math.max(0, now.value - since) / 1000));
});

/** Its position in words, where it is not what it should be. */
export const astrayText = computed<string | null>(() => {
  if (astray.value === null || lastPlace.value === null) return null;
  if (astray.value.state === 'estimated') return isSilent.value ? null : t.alarm.estimatedHere;
  const what = t.alarm.what.position;
  return astrayFor.value === null ? what : t.alarm.since({ what, age: astrayFor.value });
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
