import type { Clock } from '../clock.ts';
import { RESULT_ACCEPTED } from '../exchange.ts';
import type { Guard } from '../vehicle/guard.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { lookUntil } from './look-until.ts';
import type { Context, Sender } from './sender.ts';

/** MAV_CMD_PREFLIGHT_REBOOT_SHUTDOWN; param 1: the autopilot reboots. */
const PREFLIGHT_REBOOT_SHUTDOWN = 246;
const REBOOT = 1;
/** From its answer until it is given up. */
const BACK_MS = 60_000;
const LOOK_MS = 100;
/** It beats five times a second where it takes the request for it, and once a second anyway. */
const SILENT_MS = 1100;

interface Rebooted {
  readonly result: number | null;
  /** Until it was heard again with a boot time that began anew; null: not within 60 s. */
  readonly backAfterS: number | null;
}

interface Parts {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  readonly sender: Sender;
}

/**
 * Has the flight controller reboot, and waits until it is back: its boot time has begun anew (vehicle.ts).
 * @throws ApiError E_ARMED unless it is known to be disarmed; nothing overrides that, as the firmwares refuse it themselves
 */
export async function reboot(parts: Parts, context: Context): Promise<Rebooted> {
  const { vehicle, guard } = parts;
  guard.demand('reboot', context.target.system, false, { says: 'reboot the flight controller' });
  vehicle.awaitReboot(true);
  try {
    return await ordered(parts, context);
  } finally {
    vehicle.awaitReboot(false);
  }
}

async function ordered({ clock, vehicle, sender }: Parts, context: Context): Promise<Rebooted> {
  const { boots } = vehicle;
  const began = clock.now();
  const isBack = (): boolean => vehicle.boots !== boots && vehicle.alive;
  // Sent twice, it would reboot twice: one that is silent has taken it.
  const underway = (): boolean => isBack() || (vehicle.linkAge ?? 0) > SILENT_MS;
  const result = await sender.long(context, PREFLIGHT_REBOOT_SHUTDOWN, [REBOOT], { underway });
  if (result !== RESULT_ACCEPTED && result !== null) return { result, backAfterS: null };
  const { signal } = context.turn;
  const wait = { until: clock.now() + BACK_MS, everyMs: LOOK_MS, signal };
  if (!(await lookUntil(clock, isBack, wait))) return { result, backAfterS: null };
  return { result: RESULT_ACCEPTED, backAfterS: Math.round((clock.now() - began) / 100) / 10 };
}
