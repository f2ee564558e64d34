import { CMD, isInDegrees, YAWED } from '../../../shared/mission/commands.ts';
import type { HeldOtherwise, ItemMember } from '../../../shared/mission/warning.ts';
import { ITEM_PARAMS, type MissionItem, type MissionPart } from '../../../shared/schemas/mission-item.ts';

/** Frames that differ in name only: the INT twins of MAV_FRAME. */
const TWINS: Readonly<Record<number, number>> = { 5: 0, 6: 3, 11: 10 };

/** Degrees: one step of the wire, 1e-7, and the rounding of a double. */
const PLACE_STEP = 1.5e-7;
/** Where ArduPilot keeps heights in cm, and rally points' in m. */
const HEIGHT_STEP_M: Readonly<Record<MissionPart, number>> = { mission: 0.011, fence: Infinity, rally: 1 };

/** Whose param1 says where, as a place does: the target of a jump, the corners and the radius of a fence. */
const PLACE_IN_PARAM1: ReadonlySet<number> = new Set([
  CMD.jump,
  CMD.polygonInclusion,
  CMD.polygonExclusion,
  CMD.circleInclusion,
  CMD.circleExclusion,
]);

export interface Comparison {
  /** The first item that is another one, and what differs. */
  readonly wrong: { readonly index: number; readonly what: string } | null;
  readonly otherwise: readonly HeldOtherwise[];
}

/**
 * Compares what was sent with what the vehicle holds, both in the API's units. Number, command, frame, place and height must be the
 * same. Each firmware keeps an item in its own form and tells it back so (ArduPilot: AP_Mission.cpp, PX4: mavlink_mission.cpp):
 * defaults filled in, parameters cut to whole numbers or packed into bytes, nothing where it has no room. Such a member is
 * `otherwise`. A parameter that was sent as NaN was the vehicle's to choose, whatever it chose.
 */
export function compare(
  part: MissionPart,
  sent: readonly MissionItem[],
  held: readonly MissionItem[],
): Comparison {
  const otherwise: HeldOtherwise[] = [];
  const count = Math.max(sent.length, held.length);
  for (let index = 0; index < count; index++) {
    const [ours, theirs] = [sent[index], held[index]];
    if (ours === undefined || theirs === undefined) {
      const what = `${sent.length} items were sent, and it holds ${held.length}`;
      return { wrong: { index, what }, otherwise };
    }
    const what = difference(part, ours, theirs);
    if (what !== null) return { wrong: { index, what }, otherwise };
    for (const member of membersHeldOtherwise(part, ours, theirs))
      otherwise.push({ part, index, seq: theirs.seq, member, sent: ours[member], held: theirs[member] });
  }
  return { wrong: null, otherwise };
}

function difference(part: MissionPart, ours: MissionItem, theirs: MissionItem): string | null {
  if (ours.command !== theirs.command) return `command ${theirs.command} instead of ${ours.command}`;
  if (PLACE_IN_PARAM1.has(ours.command) && !isSame(ours.param1, theirs.param1))
    return `param1 ${theirs.param1} instead of ${ours.param1}`;
  if (!isInDegrees(ours.frame, ours.command)) return null;
  // A fence's corners have no height, so neither firmware keeps their frame.
  if (part !== 'fence' && (TWINS[ours.frame] ?? ours.frame) !== (TWINS[theirs.frame] ?? theirs.frame))
    return `frame ${theirs.frame} instead of ${ours.frame}`;
  if (Math.abs(ours.x - theirs.x) > PLACE_STEP || Math.abs(ours.y - theirs.y) > PLACE_STEP)
    return 'another place';
  const step = Math.max(HEIGHT_STEP_M[part], Math.abs(ours.z) * 1e-6);
  return Math.abs(ours.z - theirs.z) >= step ? `height ${theirs.z} instead of ${ours.z}` : null;
}

function membersHeldOtherwise(
  part: MissionPart,
  ours: MissionItem,
  theirs: MissionItem,
): readonly ItemMember[] {
  const placed = isInDegrees(ours.frame, ours.command);
  // Only a mission goes on by itself; ArduPilot tells 0 of fences and rally points.
  const alike: readonly ItemMember[] = part === 'mission' ? [...ITEM_PARAMS, 'autocontinue'] : ITEM_PARAMS;
  const members: readonly ItemMember[] = placed ? alike : [...alike, 'x', 'y', 'z'];
  const otherwise = members.filter((member) => {
    const isYaw = member === 'param4' && YAWED.has(ours.command);
    return !isSame(ours[member], theirs[member], isYaw);
  });
  const cut = placed && Math.abs(ours.z - theirs.z) >= HEIGHT_STEP_M.mission;
  return cut ? [...otherwise, 'z'] : otherwise;
}

function isSame(ours: number | null, theirs: number | null, isYaw = false): boolean {
  if (ours === null) return true;
  if (theirs === null) return false;
  const off = Math.abs(ours - theirs);
  if (off <= Math.max(1e-6, Math.abs(ours) * 1e-5)) return true; // float32
  const turned = off % 360;
  return isYaw && Math.min(turned, 360 - turned) < 0.01;
}
