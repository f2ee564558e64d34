import { computed, effect, signal } from '@preact/signals';
import { knownHeight } from '../../../../shared/flight/known-place.ts';
import { type FlightPhase, flightPhase } from '../../../../shared/flight/phase.ts';
import type { TelemetryGroup } from '../../../../shared/flight/telemetry-groups.ts';
import { recordOf } from '../../../../shared/member.ts';
import { firstItemOf } from '../../../../shared/schemas/mission-item.ts';
import { credential } from './credential.ts';
import { entry } from './node.ts';
import { now, socketsRefused } from './presence.ts';
import { relayed } from './relay.ts';
import type { Answer } from './rows.ts';
import { Stream } from './socket.ts';

/** What the vehicle says, over the one socket of the page. Nothing older than 3 s is given out as if it were now. */

export type Telemetry = Answer<'telemetry.get'>;
/** Members of the snapshot that have an age of their own. */
export type Group = TelemetryGroup;

export const STALE_S = 3;

const received = signal<{ readonly body: Telemetry; readonly at: number } | null>(null);

/** Nothing was heard yet, not even that there is no vehicle. Where the node stays silent, the banner over the page says so. */
export const isAwaited = computed(() => received.value === null && !socketsRefused.value);

/** The newest snapshot, whatever its age; for values use `fresh`. */
export const newest = computed(() => received.value?.body ?? null);

/** The vehicle's number of a mission's first item; null: not known. */
export const firstItem = computed(() => firstItemOf(newest.value?.autopilot));

/** A part of the telemetry; `link`: anything of the vehicle, which may send no heartbeats for a while. */
type Part = Group | 'heartbeat' | 'link';

/** Seconds since the vehicle sent this part; null: never, or not since the page is open. */
export function age(group: Part): number | null {
  const held = received.value;
  if (held === null) return null;
  // The schema is made from the list of groups, so its type does not know their names.
  const ages = recordOf(held.body['ages']);
  const { heartbeat_age_s: beat, link_age_s: link = beat } = held.body;
  const sent = group === 'heartbeat' ? beat : group === 'link' ? link : ages[group];
  return typeof sent === 'number' ? sent + Math.max(0, now.value - held.at) / 1000 : null;
}

/** A value of that part; null where it is older than 3 s or was never sent. */
export function fresh<T>(group: Part, pick: (body: Telemetry) => T | null | undefined): T | null {
  const seconds = age(group);
  const held = received.value;
  return seconds === null || seconds > STALE_S || held === null ? null : (pick(held.body) ?? null);
}

/** A value of that part, however old; for what is shown with its age, and never for what is made of it. */
export function last<T>(pick: (body: Telemetry) => T | null | undefined): T | null {
  const held = received.value;
  return held === null ? null : (pick(held.body) ?? null);
}

/** Whole seconds since that part was told; null: it is of now, or never was. */
export function oldness(group: Part): number | null {
  const seconds = age(group);
  return seconds === null || seconds <= STALE_S ? null : Math.round(seconds);
}

/** `unknown`: there is a vehicle, and its state is not known now; null: there was none yet. */
export const armed = computed<boolean | 'unknown' | null>(() => {
  const held = received.value;
  if (held === null || held.body.heartbeat_age_s === null) return null;
  const seconds = age('heartbeat');
  return seconds === null || seconds > STALE_S ? 'unknown' : held.body.armed;
});

/** What it last said of its motors, however long ago; null: nothing since the page was opened. */
export const lastArmed = signal<boolean | null>(null);

let stream: Stream | null = null;

// Anew whenever it is another caller or another vehicle.
effect(() => {
  const wanted = entry.value.state === 'in';
  void credential.value;
  void relayed.value;
  stream?.stop();
  stream = null;
  received.value = null;
  lastArmed.value = null;
  if (!wanted) return;
  stream = new Stream('telemetry.ws.ws', (text) => {
    const body = JSON.parse(text) as Telemetry;
    received.value = { body, at: performance.now() };
    // Null while it is not heard: the node does not know it then.
    if (body.armed !== null) lastArmed.value = body.armed;
  });
});

/** What it does now, of what is fresh. */
export const flight = computed<FlightPhase>(() =>
  flightPhase({
    armed: armed.value,
    landed: fresh('landed_state', (body) => body.landed_state),
    height: fresh('position', ({ position }) => knownHeight(position)),
  }),
);
