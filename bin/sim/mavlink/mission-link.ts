import type { Faults } from '../faults.ts';
import type { Craft } from '../flight/craft.ts';
import { type MissionItem, NAV } from '../flight/mission.ts';
import type { MavMissionResult } from '../mavlink-values.ts';
import type { Channel } from './channel.ts';
import { MissionAck, MissionCount, MissionItemInt, MissionItemReached } from './messages.ts';
import type { ItemDialect, ItemList, ListType } from './mission-lists.ts';

/** Whom an answer goes to. */
export interface Peer {
  readonly sysid: number;
  readonly compid: number;
}

export interface MissionLinkOptions {
  readonly craft: Craft;
  readonly channel: Channel;
  readonly faults: Pick<Faults, 'loseLists'>;
  readonly lists: readonly [mission: ItemList, fence: ItemList, rally: ItemList];
  readonly dialect: ItemDialect;
  /** What the vehicle says when it has taken a whole mission over. */
  readonly received: string | undefined;
}

/** The mission protocol of one autopilot, for its three lists. Times are wall clock, ms. */
export interface MissionLink {
  /** An upload is under way. */
  readonly busy: boolean;
  /** The ids of the three lists, 0 where the firmware has none. */
  ids(): readonly [mission: number, fence: number, rally: number];
  reset(): void;
  /** MISSION_REQUEST_LIST */
  list(peer: Peer, type: number, now: number): void;
  /** MISSION_REQUEST_INT, and MISSION_REQUEST, which is answered with the INT item too. */
  request(peer: Peer, seq: number, type: number, isInt: boolean, now: number): void;
  /** MISSION_COUNT */
  begin(peer: Peer, count: number, type: number, now: number): void;
  /** MISSION_ITEM_INT of an upload. */
  item(peer: Peer, message: MissionItemInt, now: number): void;
  /** MISSION_CLEAR_ALL. 255 means every list. */
  clear(peer: Peer, type: number): void;
  /** MISSION_ACK of the station that has downloaded a list. */
  ack(peer: Peer, type: number): void;
  reached(seq: number): void;
  /** Asks again for a lost item, and in the end gives up. */
  tick(now: number): void;
}

export const ALL_LISTS = 255;

export function isListType(type: number): type is ListType {
  return type === 0 || type === 1 || type === 2;
}

export function target(peer: Peer): { targetSystem: number; targetComponent: number } {
  return { targetSystem: peer.sysid, targetComponent: peer.compid };
}

/** What both autopilots do alike: telling a list, and the plain messages. */
export class MissionSender {
  readonly #options: MissionLinkOptions;

  constructor(options: MissionLinkOptions) {
    this.#options = options;
    this.storeTotal();
  }

  count(peer: Peer, type: ListType, opaqueId: number): void {
    const { channel, lists } = this.#options;
    channel.send(MissionCount, { ...target(peer), count: lists[type].count, missionType: type, opaqueId });
  }

  ack(peer: Peer, type: MavMissionResult, missionType: number, opaqueId = 0): void {
    this.#options.channel.send(MissionAck, { ...target(peer), type, missionType, opaqueId });
  }

  /** @returns false when there is no such item */
  item(peer: Peer, seq: number, type: ListType): boolean {
    const { channel, craft, dialect, lists } = this.#options;
    const list = lists[type];
    const stored = list.items[seq - list.first];
    const isHome = seq < list.first;
    if (!isHome && stored === undefined) return false;
    const item = stored === undefined ? homeItem(craft) : dialect.stored(type, stored);
    channel.send(MissionItemInt, {
      ...target(peer),
      seq,
      frame: item.frame,
      command: item.command,
      autocontinue: item.autocontinue,
      param1: item.p1,
      param2: item.p2,
      param3: item.p3,
      param4: item.p4,
      x: Math.round(item.lat * 1e7),
      y: Math.round(item.lon * 1e7),
      z: item.alt,
      missionType: type,
    });
    return true;
  }

  reached(seq: number): void {
    this.#options.channel.send(MissionItemReached, { seq });
  }

  storeTotal(): void {
    const { craft, lists } = this.#options;
    craft.params.set('MIS_TOTAL', lists[0].count);
  }
}

function homeItem({ vehicle }: Craft): MissionItem {
  return { command: NAV.waypoint, frame: 0, p1: 0, p2: 0, p3: 0, p4: 0, autocontinue: 1, ...vehicle.home };
}
