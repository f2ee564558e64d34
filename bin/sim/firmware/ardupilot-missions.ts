import { MavSeverity } from '../flight/craft.ts';
import { FRAMES, type MissionItem, NAV } from '../flight/mission.ts';
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
import { MavMissionResult } from '../mavlink-values.ts';
import { frameOf, mayBeNaN, packed, packingOf } from './ardupilot-packing.ts';

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

const ALT_MAX_M = 83_000;

/** What ArduPilot on a board with 32 KiB of storage takes (StorageManager.cpp). */
export function ardupilotItems(isPlane: boolean): ItemDialect {
  return {
    max: [1306, 70, 46],
    judge: (type, item, count) => {
      if (type === 0) return judgeMission(item, count, isPlane);
      return type === 1 ? judgeFence(item) : judgeRally(item);
    },
    stored: (type, item) => {
      const packing = type === 0 ? packingOf(item.command, isPlane) : undefined;
      return packing === undefined ? storedPoint(type, item) : packed(item, packing);
    },
  };
}

function judgeMission(item: MissionItemInt, count: number, isPlane: boolean): MavMissionResult | undefined {
  const { command, frame }: { readonly command: number; readonly frame: number } = item;
  const params = [item.param1, item.param2, item.param3, item.param4];
  const bad = params.findIndex(
    (value, n) => !Number.isFinite(value) && !(Number.isNaN(value) && mayBeNaN(command, n + 1)),
  );
  if (bad >= 0) return (MavMissionResult.INVALID_PARAM1 + bad) as MavMissionResult;
  const packing = packingOf(command, isPlane);
  if (packing === undefined) return MavMissionResult.UNSUPPORTED;
  if (command === NAV.jump && (item.param1 < 1 || item.param1 >= count)) return MavMissionResult.ERROR;
  if (!packing.isPlace) return undefined;
  const misplaced = judgePlace(item);
  if (misplaced !== undefined) return misplaced;
  if (!(Math.abs(item.z) < ALT_MAX_M)) return MavMissionResult.INVALID_PARAM7;
  // MAV_FRAME_MISSION counts as mean sea level here.
  return FRAMES.has(item.frame) || frame === 2 ? undefined : MavMissionResult.UNSUPPORTED_FRAME;
}

function judgeFence(item: MissionItemInt): MavMissionResult | undefined {
  const command: number = item.command;
  if (!FRAMES.has(item.frame)) return MavMissionResult.UNSUPPORTED_FRAME;
  if (command < FENCE.returnPoint || command > FENCE.circleOut) return MavMissionResult.UNSUPPORTED;
  const vertex = command === FENCE.inclusion || command === FENCE.exclusion;
  return vertex && item.param1 > 255 ? MavMissionResult.INVALID_PARAM1 : undefined;
}

function judgeRally(item: MissionItemInt): MavMissionResult | undefined {
  const command: number = item.command;
  if (command !== RALLY_POINT) return MavMissionResult.UNSUPPORTED;
  const misplaced = judgePlace(item);
  if (misplaced !== undefined) return misplaced;
  if (!(Math.abs(item.z) <= 32_767)) return MavMissionResult.INVALID_PARAM7;
  return FRAMES.has(item.frame) ? undefined : MavMissionResult.UNSUPPORTED_FRAME;
}

function judgePlace({ x, y }: MissionItemInt): MavMissionResult | undefined {
  if (Math.abs(x) > 90e7) return MavMissionResult.INVALID_PARAM5_X;
  return Math.abs(y) > 180e7 ? MavMissionResult.INVALID_PARAM6_Y : undefined;
}

/** Of a fence or a rally point, which do not go on to another. */
function storedPoint(type: ListType, { command, p1, lat, lon, alt, frame }: MissionItem): MissionItem {
  const none = { command, p1: 0, p2: 0, p3: 0, p4: 0, autocontinue: 0, lat, lon };
  if (type === 2) return { ...none, frame: frameOf(frame), alt: Math.trunc(alt) };
  const shape = command === FENCE.returnPoint ? 0 : p1;
  const vertex = command === FENCE.inclusion || command === FENCE.exclusion;
  return { ...none, p1: vertex ? Math.trunc(shape) : shape, frame: 0, alt: 0 };
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
    const refusal = isHome ? undefined : dialect.judge(upload.type, message, upload.count);
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
    const { lists, craft, faults, received } = this.#options;
    this.#uploads.delete(type);
    const isLost = faults.loseLists > 0;
    if (isLost) faults.loseLists--;
    lists[type].replace(isLost ? [] : items);
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
