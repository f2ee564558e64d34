import {
  BATTERY_FUNCTIONS,
  type BatteryState,
  batteryState,
  worstOf,
} from '../../../shared/flight/battery-state.ts';
import type { BatteryStatus } from '../../../shared/mavlink/decode.ts';
import type { Battery } from '../../../shared/rpc/telemetry.ts';
import { scaled, signed16, within } from './known.ts';

const U16_UNKNOWN = 0xffff;
/** A flight battery's cell has less; a larger value is the whole pack, which ArduPilot sends if there is no cell monitor. */
const MAX_CELL_MV = 5000;
/** In BATTERY_STATUS: the voltage of a pack above 65.534 V continues in the next element. */
const CELL_OVERFLOW = 0xfffe;
/** Centiamperes. */
const PX4_CURRENT_UNKNOWN = -100;
/** One that says nothing while others go on is not there any more. */
const GONE_MS = 30_000;
/** More than a vehicle has; further ones are not taken. */
const MOST = 32;
/** BAT_EMERGEN_THR, BAT_CRIT_THR and BAT_LOW_THR as PX4 comes with them, percent. */
const PX4_LIMITS = [
  [5, 'emergency'],
  [7, 'critical'],
  [15, 'low'],
] as const satisfies readonly (readonly [number, BatteryState])[];
/** Those that do not fly the vehicle. */
const SIDE: ReadonlySet<Battery['function']> = new Set(['avionics', 'payload']);

interface BatteryEntry {
  readonly battery: Battery;
  readonly own: boolean;
  readonly at: number;
}

/** centiamperes; -1 is unknown, and PX4's own unknown, -1 A, is sent as -100 (BatteryStatus.msg). */
export function amperes(centiamperes: number, isPx4: boolean): number | null {
  if (centiamperes === -1 || (isPx4 && centiamperes === PX4_CURRENT_UNKNOWN)) return null;
  return signed16(centiamperes, 100);
}

/** The batteries of the vehicle by BATTERY_STATUS, by component and id: one that tells of itself has an id of its own choice. */
export class Batteries {
  readonly #heard = new Map<number, BatteryEntry>();

  /**
   * @param component who told; the autopilot's own is `own`
   * @param now ms, monotonic
   */
  take(message: BatteryStatus, component: number, own: boolean, isPx4: boolean, now: number): void {
    const key = (component << 8) | message.id;
    if (!this.#heard.has(key) && this.#heard.size >= MOST) return;
    this.#heard.set(key, { battery: batteryOf(message, own, isPx4), own, at: now });
    for (const [other, { at }] of this.#heard) if (now - at > GONE_MS) this.#heard.delete(other);
  }

  /** The autopilot's own first, by id; null: none has said anything. */
  get list(): Battery[] | null {
    if (this.#heard.size === 0) return null;
    return [...this.#heard.values()]
      .toSorted((a, b) => Number(b.own) - Number(a.own) || a.battery.id - b.battery.id)
      .map(({ battery }) => battery);
  }

  /** What flies the vehicle; null: none has said anything. */
  get main(): Battery | null {
    const { list } = this;
    return list?.find((battery) => !SIDE.has(battery.function)) ?? list?.[0] ?? null;
  }

  /** The worst of all; null: none says. */
  get state(): BatteryState | null {
    return worstOf((this.list ?? []).map(({ state }) => state));
  }
}

function batteryOf(message: BatteryStatus, own: boolean, isPx4: boolean): Battery {
  const cells = [
    ...message.cells.filter((mv) => mv !== U16_UNKNOWN),
    ...message.cellsExt.filter((mv) => mv !== 0 && mv !== U16_UNKNOWN),
  ];
  const perCell = cells.length > 0 && cells.every((mv) => mv <= MAX_CELL_MV);
  const remaining = within(message.remaining, 0, 100);
  const said = batteryState(message.chargeState);
  const current = amperes(message.current, isPx4);
  const sum = cells.reduce((whole, mv) => whole + Math.min(mv, CELL_OVERFLOW), 0) / 1000;
  const nothing = sum === 0 && current === null; // ArduPilot's monitor that is not there
  return {
    id: message.id,
    function: BATTERY_FUNCTIONS[message.function] ?? null,
    voltage_v: cells.length === 0 || nothing ? null : sum,
    current_a: current,
    remaining_percent: remaining,
    consumed_mah: scaled(message.consumed, -1, 1),
    temperature_c: signed16(message.temperature, 100),
    cells_v: perCell && !nothing ? cells.map((mv) => mv / 1000) : null,
    state: isPx4 && !own ? worstOf([said, px4State(message.remaining)]) : said,
  };
}

/** PX4 judges a battery that another component tells of by its own limits (MavlinkReceiver::handle_message_battery_status). */
function px4State(remaining: number): BatteryState {
  return PX4_LIMITS.find(([limit]) => remaining < limit)?.[1] ?? 'ok';
}
