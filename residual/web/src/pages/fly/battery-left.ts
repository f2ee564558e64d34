import { computed, effect, signal } from '@preact/signals';
import { relayed } from '../../api/relay.ts';
import { fresh } from '../../api/telemetry.ts';
import { phase } from '../../vehicle/vehicle-state.ts';
import { type Drained, minutesLeft } from './battery-drain.ts';

/** How long the battery lasts at the drain of the last minutes; no vehicle tells the node, so it is worked out here. */

const WINDOW_MS = 180_000;
const steps = signal<readonly Drained[]>([]);

/** Minutes; null: not known, or it does not fly. */
export const batteryLeft = computed<number | null>(() => minutesLeft(steps.value));

/** Watches the battery while the page is shown. @returns ends it */
export function followBattery(): () => void {
  return effect(() => {
    void relayed.value;
    const percent = fresh('battery', ({ battery }) => battery.remaining);
    const isFlying = phase.value === 'flight';
    const held = steps.peek();
    if (!isFlying) {
      if (held.length > 0) steps.value = [];
      return;
    }
    const last = held.at(-1);
    if (percent === null || last?.percent === percent) return;
    const at = performance.now();
    // It went up: another battery, or a vehicle that has changed its mind.
    const kept =
      last !== undefined && percent > last.percent ? [] : held.filter((step) => at - step.at < WINDOW_MS);
    steps.value = [...kept, { at, percent }];
  });
}
