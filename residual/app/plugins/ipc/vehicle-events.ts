import type { BatteryState } from '../../../../shared/flight/battery-state.ts';
import type { LinkState } from '../../../../shared/rpc/link-state.ts';
import { firstItemOf } from '../../../../shared/schemas/mission-item.ts';

type Publish = (topic: string, payload: unknown) => void;

/** From bad to worse; every other state of a battery is no shortage. */
const SHORTAGES: readonly (BatteryState | null)[] = ['low', 'critical', 'emergency'];

/** Modes in which a vehicle returns or lands: whoever goes into one of them flies the mission no further. */
const GIVES_UP: ReadonlySet<string> = new Set([
  'LAND',
  'QLAND',
  'AUTOLAND',
  'RTL',
  'QRTL',
  'SMART_RTL',
  'AUTO_RTL',
  'AUTO.LAND',
  'AUTO.PRECLAND',
  'AUTO.RTL',
]);

/** What happened to the vehicle between one state of the link and the next, as events for extensions. Nothing is guessed. */
export class VehicleEvents {
  readonly #publish: Publish;
  #last: LinkState | null = null;
  /** A mission was begun, and neither completed nor given up since. */
  #flying = false;

  constructor(publish: Publish) {
    this.#publish = publish;
  }

  /** The link is away: whatever changes meanwhile was not seen to change. */
  forget(): void {
    this.#last = null;
    this.#flying = false;
  }

  heard(now: LinkState): void {
    const before = this.#last;
    this.#last = now;
    if (now.telemetry.mission.state === 'active') this.#flying = true;
    if (before === null) return;
    const { telemetry: was } = before;
    const { telemetry: is } = now;
    if (before.armed !== now.armed && now.armed !== 'unknown' && before.armed !== 'unknown')
      this.#publish(now.armed ? 'vehicle.armed' : 'vehicle.disarmed', { mode: is.mode });
    if (was.mode !== is.mode && was.mode !== null && is.mode !== null)
      this.#publish('vehicle.mode_changed', { from: was.mode, to: is.mode });
    if (was.fence !== null && is.fence !== null && !was.fence.breached && is.fence.breached)
      this.#publish('vehicle.geofence_breach', { ...is.fence });
    const { state, voltage, remaining } = is.battery;
    if (SHORTAGES.indexOf(state) > SHORTAGES.indexOf(was.battery.state))
      this.#publish('vehicle.battery_low', { state, voltage, remaining });
    this.#mission(before, now);
  }

  #mission(before: LinkState, now: LinkState): void {
    const { mission: was } = before.telemetry;
    const { mission: is, mode } = now.telemetry;
    if (was.state !== is.state && was.state !== null) {
      if (is.state === 'active') this.#publish('mission.started', { ...is });
      if (is.state === 'complete') this.#publish('mission.completed', { ...is });
    }
    if (is.state === 'complete') this.#flying = false;
    if (!this.#flying) return;
    const reason = this.#givenUp(before, now);
    if (reason === null) return;
    this.#flying = false;
    // Its last item may land or return, and not every vehicle calls the mission complete after that.
    if (reason === 'cleared' || !isLast(before)) this.#publish('mission.aborted', { reason, mode, ...is });
  }

  #givenUp(before: LinkState, now: LinkState): 'cleared' | 'disarmed' | 'mode' | null {
    if (now.telemetry.mission.state === 'none') return 'cleared';
    if (before.armed === true && now.armed === false) return 'disarmed';
    const { mode } = now.telemetry;
    return mode !== null && mode !== before.telemetry.mode && GIVES_UP.has(mode) ? 'mode' : null;
  }
}

/** Whether the item under way is the last one; true if the vehicle does not say. */
function isLast({ telemetry: { autopilot, mission } }: LinkState): boolean {
  const { current, total } = mission;
  const first = firstItemOf(autopilot) ?? 0;
  return current === null || total === null || current >= first + total - 1;
}
