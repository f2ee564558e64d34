import { MavSeverity } from '../flight/craft.ts';
import { FRAMES, ITEM_NAMES, type MissionItem, NAV } from '../flight/mission.ts';
import { MavMissionResult } from '../mavlink/mavlink-values.ts';
import { type MissionItemInt, MissionRequest } from '../mavlink/messages.ts';
import {
  ALL_LISTS,
  isListType,
  type MissionLink,
  type MissionLinkOptions,
  MissionSender,
  type Peer,
  target,
} from '../mavlink/mission-link.ts';
import { type ItemDialect, type ListType, toItem } from '../mavlink/mission-lists.ts';

const ASK_AGAIN_MS = 1000;
const GIVE_UP_MS = 8000;
const FENCE = {
  returnPoint: 5000,
  inclusion: 5001,
  exclusion: 5002,
  circleIn: 5003,
  circleOut: 5004,
} as const;
const RALLY_POINT = 5100;
const TIMEOUT_TEXTS = ['Mission upload timeout', 'Fence upload timeout', 'Rally upload timeout'] as const;

/** The parameters that ArduCopter keeps of an item, by command; the others it tells as 0 (AP_Mission.cpp). */
const KEPT: ReadonlyMap<number, string> = new Map([
  [NAV.waypoint, '1'],
  [NAV.loiterUnlimited, '3'],
  [NAV.loiterTime, '13'],
  [NAV.land, '1'],
  [NAV.takeoff, '1'],
  [NAV.delay, '1234'],
  [NAV.changeSpeed, '123'],
  [NAV.cameraDistance, '13'],
  [NAV.imageStart, '1234'],
  [NAV.imageStop, '1'],
  [FENCE.inclusion, '1'],
  [FENCE.exclusion, '1'],
  [FENCE.circleIn, '1'],
  [FENCE.circleOut, '1'],
]);
const NAN_YAW: ReadonlySet<number> = new Set([NAV.waypoint, NAV.loiterUnlimited, NAV.land, NAV.takeoff]);
const PLACELESS: ReadonlySet<number> = new Set([
  NAV.returnToLaunch,
  NAV.delay,
  NAV.changeSpeed,
  NAV.cameraDistance,
  NAV.imageStart,
  NAV.imageStop,
]);

/** What ArduPilot 4.5 on a board with 32 KiB of storage takes (StorageManager.cpp). */
export const ARDUPILOT_ITEMS: ItemDialect = {
  max: [1306, 70, 46],
  judge,
  stored,
};

function judge(type: ListType, item: MissionItemInt): MavMissionResult | undefined {
  const command: number = item.command;
  const frame: number = item.frame;
  const known = type === 0 ? ITEM_NAMES[command] !== undefined : listOf(command) === type;
  const params = [item.param1, item.param2, item.param3, item.param4];
  if (type === 0) {
    const bad = params.findIndex((value, n) => !Number.isFinite(value) && !(n === 3 && NAN_YAW.has(command)));
    if (bad >= 0) return (MavMissionResult.INVALID_PARAM1 + bad) as MavMissionResult;
  }
  if (!known) return MavMissionResult.UNSUPPORTED;
  if (type === 1) {
    if (!FRAMES.has(frame)) return MavMissionResult.UNSUPPORTED_FRAME;
    const vertex = command === FENCE.inclusion || command === FENCE.exclusion;
    return vertex && item.param1 > 255 ? MavMissionResult.INVALID_PARAM1 : undefined;
  }
  if (PLACELESS.has(command)) return undefined;
  if (Math.abs(item.x) > 90e7) return MavMissionResult.INVALID_PARAM5_X;
  if (Math.abs(item.y) > 180e7) return MavMissionResult.INVALID_PARAM6_Y;
  if (!Number.isFinite(item.z) || (type === 2 && Math.abs(item.z) > 32_767))
    return MavMissionResult.INVALID_PARAM7;
  // MAV_FRAME_MISSION counts as mean sea level here.
  return FRAMES.has(frame) || frame === 2 ? undefined : MavMissionResult.UNSUPPORTED_FRAME;
}

function listOf(command: number): ListType {
  if (command === RALLY_POINT) return 2;
  return command >= FENCE.returnPoint && command <= FENCE.circleOut ? 1 : 0;
}

function stored(type: ListType, item: MissionItem): MissionItem {
  const kept = KEPT.get(item.command) ?? '';
  const circle = item.command === FENCE.circleIn || item.command === FENCE.circleOut;
  const keep = (n: string, value: number): number =>
    kept.includes(n) && Number.isFinite(value)
      ? circle || item.command === NAV.changeSpeed
        ? value
        : Math.trunc(value)
      : 0;
  const params = {
    p1: keep('1', item.p1),
    p2: keep('2', item.p2),
    p3: keep('3', item.p3),
    p4: keep('4', item.p4),
  };
  const { command, lat, lon } = item;
  if (type === 1) return { command, ...params, lat, lon, frame: 0, alt: 0 };
  if (type === 2) return { command, ...params, lat, lon, frame: item.frame, alt: Math.trunc(item.alt) };
  if (PLACELESS.has(command)) return { command, ...params, lat: 0, lon: 0, frame: 0, alt: 0 };
  return { command, ...params, lat, lon, frame: frameOf(item.frame), alt: Math.trunc(item.alt * 100) / 100 };
}

function frameOf(frame: number): number {
  if (frame === 3 || frame === 6) return 3;
  return frame === 10 || frame === 11 ? 10 : 0;
}

interface Upload {
  readonly peer: Peer;
  readonly type: ListType;
  readonly count: number;
  items: MissionItem[];
  next: number;
  asked: number;
  heard: number;
}

/**
 * ArduPilot's MissionItemProtocol: an upload a list, at the same time if need be. While one is under way its list is told to nobody.
 * A mission and rally points change item by item, a fence when it is complete.
 */
export class ArdupilotMissions implements MissionLink {
  readonly #options: MissionLinkOptions;
  readonly #sender: MissionSender;
  readonly #uploads = new Map<ListType, Upload>();

  constructor(options: MissionLinkOptions) {
    this.#options = options;
    this.#sender = new MissionSender(options);
  }

  get busy(): boolean {
    return this.#uploads.size > 0;
  }

  ids(): readonly [number, number, number] {
    return [0, 0, 0];
  }

  reset(): void {
    this.#uploads.clear();
  }

  list(peer: Peer, type: number): void {
    if (!isListType(type)) this.#sender.ack(peer, MavMissionResult.UNSUPPORTED, type);
    else if (this.#uploads.has(type)) this.#sender.ack(peer, MavMissionResult.DENIED, type);
    else this.#sender.count(peer, type, 0);
  }

  request(peer: Peer, seq: number, type: number): void {
    if (!isListType(type)) this.#sender.ack(peer, MavMissionResult.UNSUPPORTED, type);
    else if (this.#uploads.has(type)) this.#sender.ack(peer, MavMissionResult.DENIED, type);
    else if (!this.#sender.item(peer, seq, type)) {
      this.#sender.count(peer, type, 0);
      this.#sender.ack(peer, MavMissionResult.INVALID_SEQUENCE, type);
    }
  }

  begin(peer: Peer, count: number, type: number, now: number): void {
    if (!isListType(type)) {
      this.#sender.ack(peer, MavMissionResult.UNSUPPORTED, type);
      return;
    }
    if (!this.#cancelFor(peer, type)) return;
    const { lists, dialect, craft } = this.#options;
    if (count > dialect.max[type]) {
      this.#sender.ack(peer, MavMissionResult.NO_SPACE, type);
      craft.text(MavSeverity.WARNING, `Only ${dialect.max[type]} items are supported`);
      return;
    }
    const list = lists[type];
    if (type !== 1) list.put(list.items.slice(0, Math.max(0, count - list.first)));
    const upload = { peer, type, count, items: [], next: 0, asked: now, heard: now };
    if (count === 0) this.#complete(upload);
    else {
      this.#uploads.set(type, upload);
      this.#ask(upload, now);
    }
  }

  item(peer: Peer, message: MissionItemInt, now: number): void {
    const type: number = message.missionType;
    const upload = isListType(type) ? this.#uploads.get(type) : undefined;
    if (upload === undefined) {
      this.#sender.ack(peer, MavMissionResult.ERROR, type);
      return;
    }
    if (message.seq !== upload.next) this.#sender.ack(peer, MavMissionResult.INVALID_SEQUENCE, type);
    else if (!isSame(peer, upload.peer)) this.#sender.ack(peer, MavMissionResult.DENIED, type);
    else this.#take(upload, message, now);
  }

  clear(peer: Peer, type: number): void {
    const types = ([0, 1, 2] as const).filter((each) => each === type || type === ALL_LISTS);
    if (types.length === 0) this.#sender.ack(peer, MavMissionResult.UNSUPPORTED, type);
    for (const each of types) {
      if (!this.#cancelFor(peer, each)) return;
      this.#options.lists[each].replace([]);
    }
    this.#sender.storeTotal();
    if (types.length > 0) this.#sender.ack(peer, MavMissionResult.ACCEPTED, type);
  }

  ack(): void {
    // ArduPilot needs none.
  }

  reached(seq: number): void {
    this.#sender.reached(seq);
  }

  tick(now: number): void {
    for (const upload of this.#uploads.values()) {
      if (now - upload.heard > GIVE_UP_MS) {
        this.#uploads.delete(upload.type);
        this.#options.craft.text(MavSeverity.WARNING, TIMEOUT_TEXTS[upload.type]);
        this.#sender.ack(upload.peer, MavMissionResult.OPERATION_CANCELLED, upload.type);
      } else if (now - upload.asked > ASK_AGAIN_MS) this.#ask(upload, now);
    }
  }

  /** Who uploads may begin anew; anybody else is denied. @returns false when denied */
  #cancelFor(peer: Peer, type: ListType): boolean {
    const upload = this.#uploads.get(type);
    if (upload !== undefined && !isSame(peer, upload.peer)) {
      this.#sender.ack(peer, MavMissionResult.DENIED, type);
      return false;
    }
    this.#uploads.delete(type);
    return true;
  }

  #take(upload: Upload, message: MissionItemInt, now: number): void {
    const { lists, dialect } = this.#options;
    const list = lists[upload.type];
    const isHome = message.seq < list.first; // it belongs to the vehicle
    const refusal = isHome ? undefined : dialect.judge(upload.type, message);
    if (refusal !== undefined) {
      this.#uploads.delete(upload.type);
      this.#sender.ack(upload.peer, refusal, upload.type);
      return;
    }
    if (!isHome) upload.items.push(toItem(message));
    if (upload.type !== 1) list.put([...upload.items, ...list.items.slice(upload.items.length)]);
    upload.heard = now;
    upload.next++;
    if (upload.next < upload.count) this.#ask(upload, now);
    else this.#complete(upload);
  }

  #complete({ peer, type, items }: Upload): void {
    const { lists, craft, received } = this.#options;
    this.#uploads.delete(type);
    lists[type].replace(items);
    this.#sender.storeTotal();
    if (type === 0 && received !== undefined) craft.text(MavSeverity.INFO, received);
    this.#sender.ack(peer, MavMissionResult.ACCEPTED, type);
  }

  #ask(upload: Upload, now: number): void {
    upload.asked = now;
    const { peer, next: seq, type: missionType } = upload;
    this.#options.channel.send(MissionRequest, { ...target(peer), seq, missionType });
  }
}

function isSame(a: Peer, b: Peer): boolean {
  return a.sysid === b.sysid && a.compid === b.compid;
}
