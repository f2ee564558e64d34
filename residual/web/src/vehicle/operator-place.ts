import { effect, signal } from '@preact/signals';
import { call, Refused } from '../api/client.ts';
import { entry } from '../api/node.ts';
import { relayed } from '../api/relay.ts';
import { distance } from '../map/projection.ts';
import { t } from '../strings.ts';

/** The place of this device, said to the node as the operator's while it is switched on, whichever page is shown. */

/** Degrees; m above the WGS 84 ellipsoid, null: not known. */
interface DevicePlace {
  readonly lat: number;
  readonly lon: number;
  readonly alt: number | null;
  readonly accuracyM: number;
  /** When the device was there, as `performance.now()`. */
  readonly at: number;
}

/** The node forgets a place after five minutes. */
const AGAIN_MS = 60_000;
const MOVED_M = 10;
/** Not more often, however far a bad receiver jumps. */
const GAP_MS = 5000;
/** After a refusal: the node may have been away for a moment. */
const RETRY_MS = 15_000;
/** The node takes none that is known worse (schemas/remote-id.ts). */
const MAX_ACCURACY_M = 100;
const OPTIONS: PositionOptions = { enableHighAccuracy: true, timeout: 30_000, maximumAge: 10_000 };
/** GeolocationPositionError.PERMISSION_DENIED */
const DENIED = 1;

/** Whether it is switched on. */
export const following = signal(false);
/** The newest that the node has taken. */
export const told = signal<DevicePlace | null>(null);
/** Why none was told last, in words. */
export const trouble = signal<string | null>(null);

let stop: (() => void) | null = null;

/** Begins or ends to say where this device is. */
export function follow(on: boolean): void {
  stop?.();
  stop = on ? begin() : null;
  following.value = on;
  trouble.value = null;
  if (!on) told.value = null;
}

/** @returns ends it */
function begin(): () => void {
  const ended = new AbortController();
  let last: { readonly place: DevicePlace; readonly sentAt: number } | null = null;
  const take = (position: GeolocationPosition): void => {
    if (ended.signal.aborted) return;
    const place = placeOf(position);
    const now = performance.now();
    if (place.accuracyM > MAX_ACCURACY_M) {
      trouble.value = t.vehicle.remoteId.vague({ accuracy: Math.round(place.accuracyM) });
      return;
    }
    if (last !== null && !isDue(now - last.sentAt, distance(last.place, place))) return;
    last = { place, sentAt: now };
    void tell(place, ended.signal);
  };
  const fail = ({ code }: GeolocationPositionError): void => {
    if (ended.signal.aborted) return;
    if (code === DENIED) follow(false);
    trouble.value = code === DENIED ? t.vehicle.remoteId.denied : t.vehicle.remoteId.unknown;
  };
  const watch = navigator.geolocation.watchPosition(take, fail, OPTIONS);
  // A device that does not move tells nothing by itself.
  const again = setInterval(() => navigator.geolocation.getCurrentPosition(take, fail, OPTIONS), AGAIN_MS);
  return () => {
    ended.abort();
    clearInterval(again);
    navigator.geolocation.clearWatch(watch);
  };
}

/** Whether a place is to be told: the time has come, a little earlier for the timer's sake, or it is another one. */
function isDue(sinceMs: number, movedM: number): boolean {
  const wait = trouble.value === null ? AGAIN_MS - GAP_MS : RETRY_MS;
  return sinceMs >= wait || (movedM >= MOVED_M && sinceMs >= GAP_MS);
}

async function tell(place: DevicePlace, ended: AbortSignal): Promise<void> {
  const { lat, lon, alt, accuracyM } = place;
  try {
    const body = { lat, lon, accuracy_m: accuracyM, ...(alt === null ? {} : { alt }) };
    await call('remote-id.operator-place.put', { body, signal: ended });
    if (ended.aborted) return;
    told.value = place;
    trouble.value = null;
  } catch (error) {
    if (ended.aborted) return;
    if (!(error instanceof Refused)) throw error;
    trouble.value = error.message;
  }
}

function placeOf({ coords, timestamp }: GeolocationPosition): DevicePlace {
  return {
    lat: coords.latitude,
    lon: coords.longitude,
    alt: coords.altitude,
    accuracyM: coords.accuracy,
    at: performance.now() - Math.max(0, Date.now() - timestamp),
  };
}

// Of one node and one caller: the next one is asked anew whether it may know.
effect(() => {
  void relayed.value;
  void entry.value.state;
  follow(false);
});
