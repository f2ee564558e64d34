import { ApiError } from '../../../shared/errors.ts';
import type { MissionList } from '../../../shared/rpc/link-answers.ts';
import type { FirstItem, MissionPart } from '../../../shared/schemas/mission-item.ts';

export const PART_NAMES: Readonly<Record<MissionPart, string>> = {
  mission: 'mission',
  fence: 'fence',
  rally: 'rally points',
};

/** What the vehicle holds, in an error. */
export type HeldList = Pick<MissionList, 'items' | 'count'>;

export function heldOf({ items, count }: MissionList): HeldList {
  return { items, count };
}

export function rejected(
  sentence: string,
  index: number | null,
  result: string,
  held: HeldList | null,
): ApiError {
  return new ApiError('E_MISSION_REJECTED', sentence, { index, result, held });
}

export function unsupported(part: MissionPart): ApiError {
  return new ApiError(
    'E_NOT_IMPLEMENTED',
    `This vehicle's firmware takes no ${PART_NAMES[part]} over MAVLink.`,
  );
}

/** @param seq the vehicle's number of the item that it asked for last, null if for none @param first of its first item */
export function silent(part: MissionPart, seq: number | null, first: FirstItem): ApiError {
  const index = seq === null ? null : Math.max(0, seq - first);
  const at = seq === null ? '' : ` at item ${seq}`;
  const sentence = `The vehicle stopped answering${at}. What it holds as ${PART_NAMES[part]} is not known; read it again when the link is back.`;
  return new ApiError('E_TIMEOUT', sentence, { index, held: null });
}
