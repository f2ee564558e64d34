import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call, Refused } from '../../../api/client.ts';
import { may } from '../../../api/node.ts';
import { relayed } from '../../../api/relay.ts';

/** What the vehicle draws in flight, from the newest telemetry logs with a flight in them. */

const FLIGHTS = 3;
/** Logs that are looked into; most have no flight. */
const MAX_LOOKED = 6;
/** Shorter ones say little. */
const MIN_FLIGHT_S = 60;

interface Draw {
  /** A, the mean while armed. */
  readonly amperes: number;
  readonly flights: number;
}

const known = signal<ReadonlyMap<string, Draw | null>>(new Map());
const asked = new Set<string>();

/** @returns `isKnown` false: the logs are still looked into */
export function useDraw(): { readonly draw: Draw | null; readonly isKnown: boolean } {
  const vehicle = relayed.value?.deviceId ?? '';
  useEffect(() => {
    if (asked.has(vehicle) || !may('tlogs.get') || !may('tlogs.name.report.get')) return;
    asked.add(vehicle);
    lookBack().then(
      (draw) => {
        known.value = new Map([...known.value, [vehicle, draw]]);
      },
      (error: unknown) => {
        // The estimate does without; the logs have a page of their own that says what is wrong with them.
        if (!(error instanceof Refused)) throw error;
        known.value = new Map([...known.value, [vehicle, null]]);
      },
    );
  }, [vehicle]);
  return { draw: known.value.get(vehicle) ?? null, isKnown: known.value.has(vehicle) || !may('tlogs.get') };
}

/** @throws Refused */
async function lookBack(): Promise<Draw | null> {
  const { tlogs, writing } = await call('tlogs.get');
  let [used, seconds, flights] = [0, 0, 0];
  for (const { name } of tlogs.filter((each) => each.name !== writing).slice(0, MAX_LOOKED)) {
    const report = await call('tlogs.name.report.get', { params: { name } });
    const flown = armedSeconds(report);
    const { used_mah: mah } = report.battery;
    if (mah === null || mah <= 0 || flown < MIN_FLIGHT_S) continue;
    used += mah;
    seconds += flown;
    if (++flights === FLIGHTS) break;
  }
  return flights === 0 ? null : { amperes: (used * 3.6) / seconds, flights };
}

function armedSeconds({
  events,
  duration_s: whole,
}: {
  readonly events: readonly { readonly kind: string; readonly at_s: number }[];
  readonly duration_s: number | null;
}): number {
  let [since, sum]: [number | null, number] = [null, 0];
  for (const { kind, at_s: at } of events) {
    if (kind === 'armed') since ??= at;
    else if (kind === 'disarmed' && since !== null) {
      sum += at - since;
      since = null;
    }
  }
  return sum + (since === null ? 0 : Math.max(0, (whole ?? since) - since));
}

/** s that a battery lasts with it; null: not known. @param capacity mAh */
export function enduranceOf(capacity: number | null, draw: Draw | null): number | null {
  return capacity === null || draw === null || draw.amperes <= 0 ? null : (capacity * 3.6) / draw.amperes;
}
