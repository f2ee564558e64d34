import type { MissionItem } from '../flight/mission.ts';
import type { MavMissionResult } from '../mavlink-values.ts';
import type { MissionItemInt } from './messages.ts';

/** MAV_MISSION_TYPE */
export type ListType = 0 | 1 | 2;

/** What one autopilot takes into its three lists, and in what form it tells it back. */
export interface ItemDialect {
  /** The most items of each list, home included. */
  readonly max: readonly [mission: number, fence: number, rally: number];
  /** Undefined: taken. @param count of the list that is uploaded, home included */
  judge(type: ListType, item: MissionItemInt, count: number): MavMissionResult | undefined;
  /** The item as it is stored, and told back. */
  stored(type: ListType, item: MissionItem): MissionItem;
}

/** One stored list. `items[0]` has the number `first` on the link. */
export interface ItemList {
  readonly first: 0 | 1;
  readonly items: readonly MissionItem[];
  /** Items as the link counts them. */
  readonly count: number;
  /** Puts other items in, item by item. */
  put(items: readonly MissionItem[]): void;
  /** A whole other list is there. */
  replace(items: readonly MissionItem[]): void;
}

/** A fence or the rally points. */
export class PlainList implements ItemList {
  readonly first = 0;
  items: readonly MissionItem[] = [];

  get count(): number {
    return this.items.length;
  }

  put(items: readonly MissionItem[]): void {
    this.items = items;
  }

  replace(items: readonly MissionItem[]): void {
    this.items = items;
  }
}

export function toItem(message: MissionItemInt): MissionItem {
  return {
    command: message.command,
    frame: message.frame,
    p1: message.param1,
    p2: message.param2,
    p3: message.param3,
    p4: message.param4,
    lat: message.x / 1e7,
    lon: message.y / 1e7,
    alt: message.z,
    autocontinue: message.autocontinue,
  };
}
