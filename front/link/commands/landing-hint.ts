import type { MissionItem } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';
import { inTime } from './in-time.ts';

const DO_LAND_START = 189;
/** A mission that is not known yet is read for so long at most; the refusal is told without it then. */
const READ_MS = 3000;

/**
 * What helps a fixed wing of ArduPilot that has refused DO_LAND_START with FAILED. It says why by a text, but not without a position
 * (GCS_MAVLink_Plane.cpp), and never what to do. @param mission its items; rejects where they cannot be read
 */
export async function landingHint(clock: Clock, mission: Promise<readonly MissionItem[]>): Promise<string> {
  const items = await inTime(clock, READ_MS, mission);
  const what = 'Use rtl, or upload a plan in which DO_LAND_START stands before the landing.';
  if (items === null)
    return `A plane lands by the landing sequence of its mission, and this one has started none. ${what}`;
  if (!items.some(({ command }) => command === DO_LAND_START))
    return `This plane has no landing sequence in its mission. ${what}`;
  return 'This plane did not start the landing sequence of its mission; it may not know where it is. Use rtl.';
}
