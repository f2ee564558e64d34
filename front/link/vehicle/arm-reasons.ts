import { armingModes, armsIn } from '../../../shared/flight/arming-modes.ts';
import type { PrearmReason } from '../../../shared/rpc/telemetry.ts';
import { sticksAway } from './sticks.ts';
import type { Vehicle } from './vehicle.ts';

/** How the firmwares say that the mode does not arm: ArduCopter and ArduPlane, ArduRover, PX4 1.17 and before. */
const MODE_REFUSED = /mode not armable$|mode not suitable for (?:arming|takeoff)$/i;

/** Whether a text of the vehicle says what `armReasons` says of its mode. */
export function saysMode(text: string): boolean {
  return MODE_REFUSED.test(text);
}

interface ArmFacts {
  /** A parameter's value, null: not known. */
  readonly param: (name: string) => number | null;
  /** Its receiver works, by its newest SYS_STATUS. */
  readonly receiver: boolean;
  /** Wall clock, ms. */
  readonly wall: number;
}

/**
 * What this node knows to speak against arming although the vehicle's own checks may pass: ArduCopter looks at its mode, and all of
 * ArduPilot at the sticks, only when somebody arms (AP_Arming::arm_checks).
 */
export function armReasons(vehicle: Vehicle, { param, receiver, wall }: ArmFacts): PrearmReason[] {
  const { family, telemetry } = vehicle;
  const { mode, last_heartbeat: heard } = telemetry;
  if (family === null || mode === null || heard === null) return [];
  const reasons: PrearmReason[] = [];
  if (armsIn(family, mode, param) === false) {
    const modes = armingModes(family);
    const commands = modes.map((name) => ({ cmd: 'mode' as const, args: [name] }));
    const help = { text: `Switch to ${modes.join(' or ')}.`, commands };
    reasons.push({ text: `${mode} mode not armable`, source: 'mode', at: heard, help });
  }
  const { rc } = telemetry.ages;
  if (!receiver || rc === null) return reasons;
  const at = new Date(wall - rc * 1000).toISOString();
  for (const { text, help } of sticksAway(telemetry, family, param))
    reasons.push({ text, source: 'rc', at, help: { text: help, commands: [] } });
  return reasons;
}
