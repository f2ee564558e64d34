import { type Craft, MavSeverity } from '../flight/craft.ts';
import { FRAMES, ITEM_NAMES, type Mission, type MissionItem, NAV } from '../flight/mission.ts';
import type { Channel } from './channel.ts';
import { MavMissionResult } from './mavlink-values.ts';
import {
  MissionAck,
  MissionCount,
  MissionItemInt,
  MissionItemReached,
  MissionRequestInt,
} from './messages.ts';

/** Whom an answer goes to. */
export interface Peer {
  readonly sysid: number;
  readonly compid: number;
}

interface Upload {
  readonly peer: Peer;
  readonly count: number;
  readonly items: MissionItem[];
  next: number;
  asked: number;
  heard: number;
}

const ASK_AGAIN_MS = 1000;
const GIVE_UP_MS = 8000;
const MAX_ITEMS = 700;

/** The mission protocol. Only missions: fences and rally points are answered UNSUPPORTED, as the capabilities say. */
export class MissionLink {
  readonly #craft: Craft;
  readonly #mission: Mission;
  readonly #channel: Channel;
  readonly #received: string | undefined;
  #upload: Upload | undefined;

  /** @param received what the vehicle says when it has taken a whole mission over */
  constructor(craft: Craft, mission: Mission, channel: Channel, received: string | undefined) {
    this.#received = received;
    this.#craft = craft;
    this.#mission = mission;
    this.#channel = channel;
    this.#storeTotal();
  }

  reset(): void {
    this.#upload = undefined;
  }

  /** MISSION_REQUEST_LIST. */
  list(peer: Peer, missionType: number): void {
    if (missionType !== 0) this.#ack(peer, MavMissionResult.UNSUPPORTED, missionType);
    else this.#channel.send(MissionCount, { ...target(peer), count: this.#mission.count, missionType });
  }

  /** MISSION_REQUEST_INT (and MISSION_REQUEST, which every current ground station answers to with the INT item too). */
  request(peer: Peer, seq: number, missionType: number): void {
    const item = seq < this.#mission.first ? this.#homeItem() : this.#mission.item(seq);
    if (missionType !== 0 || item === undefined || seq >= this.#mission.count) {
      this.#ack(
        peer,
        missionType === 0 ? MavMissionResult.INVALID_SEQUENCE : MavMissionResult.UNSUPPORTED,
        missionType,
      );
      return;
    }
    this.#channel.send(MissionItemInt, {
      ...target(peer),
      seq,
      frame: item.frame,
      command: item.command,
      current: seq === this.#mission.current ? 1 : 0,
      autocontinue: 1,
      param1: item.p1,
      param2: item.p2,
      param3: item.p3,
      param4: item.p4,
      x: item.lat * 1e7,
      y: item.lon * 1e7,
      z: item.alt,
      missionType,
    });
  }

  /** MISSION_COUNT: begins an upload. @param now wall clock, ms */
  begin(peer: Peer, count: number, missionType: number, now: number): void {
    if (missionType !== 0) this.#ack(peer, MavMissionResult.UNSUPPORTED, missionType);
    else if (count > MAX_ITEMS) this.#ack(peer, MavMissionResult.NO_SPACE, 0);
    else if (count === 0) this.clear(peer, 0);
    else {
      this.#upload = { peer, count, items: [], next: 0, asked: now, heard: now };
      this.#ask(this.#upload, now);
    }
  }

  /** MISSION_ITEM_INT of an upload. @param now wall clock, ms */
  item(peer: Peer, message: MissionItemInt, now: number): void {
    const upload = this.#upload;
    if (upload === undefined) return;
    upload.heard = now;
    if (message.seq !== upload.next) {
      if (message.seq < upload.next) return; // a repetition: the next one is asked for already
      this.#ack(peer, MavMissionResult.INVALID_SEQUENCE, 0);
      return;
    }
    const home = message.seq < this.#mission.first; // it belongs to the vehicle
    const refusal = home ? undefined : judge(message);
    if (refusal !== undefined) {
      this.#upload = undefined;
      this.#ack(peer, refusal, 0);
      return;
    }
    if (!home) upload.items.push(toItem(message));
    upload.next++;
    if (upload.next < upload.count) {
      this.#ask(upload, now);
      return;
    }
    this.#upload = undefined;
    this.#mission.replace(upload.items);
    this.#storeTotal();
    this.#ack(peer, MavMissionResult.ACCEPTED, 0);
    if (this.#received !== undefined) this.#craft.text(MavSeverity.INFO, this.#received);
  }

  /** MISSION_CLEAR_ALL. 255 means every type. */
  clear(peer: Peer, missionType: number): void {
    if (missionType !== 0 && missionType !== 255) {
      this.#ack(peer, MavMissionResult.UNSUPPORTED, missionType);
      return;
    }
    this.#mission.replace([]);
    this.#storeTotal();
    this.#ack(peer, MavMissionResult.ACCEPTED, missionType);
  }

  reached(seq: number): void {
    this.#channel.send(MissionItemReached, { seq });
  }

  /** Asks again for a lost item, and in the end gives up. @param now wall clock, ms */
  tick(now: number): void {
    const upload = this.#upload;
    if (upload === undefined) return;
    if (now - upload.heard > GIVE_UP_MS) {
      this.#upload = undefined;
      this.#ack(upload.peer, MavMissionResult.OPERATION_CANCELLED, 0);
    } else if (now - upload.asked > ASK_AGAIN_MS) this.#ask(upload, now);
  }

  get busy(): boolean {
    return this.#upload !== undefined;
  }

  #ask(upload: Upload, now: number): void {
    upload.asked = now;
    this.#channel.send(MissionRequestInt, { ...target(upload.peer), seq: upload.next, missionType: 0 });
  }

  #ack(peer: Peer, type: MavMissionResult, missionType: number): void {
    this.#channel.send(MissionAck, { ...target(peer), type, missionType });
  }

  #storeTotal(): void {
    this.#craft.params.set('MIS_TOTAL', this.#mission.count);
  }

  #homeItem(): MissionItem {
    const { home } = this.#craft.vehicle;
    return { command: NAV.waypoint, frame: 0, p1: 0, p2: 0, p3: 0, p4: 0, ...home };
  }
}

function target(peer: Peer): { targetSystem: number; targetComponent: number } {
  return { targetSystem: peer.sysid, targetComponent: peer.compid };
}

function judge(item: MissionItemInt): MavMissionResult | undefined {
  if (ITEM_NAMES[item.command] === undefined) return MavMissionResult.UNSUPPORTED;
  const placeless = ([NAV.returnToLaunch, NAV.delay, NAV.changeSpeed] as readonly number[]).includes(
    item.command,
  );
  if (!placeless && !FRAMES.has(item.frame)) return MavMissionResult.UNSUPPORTED_FRAME;
  if (Math.abs(item.x) > 90e7) return MavMissionResult.INVALID_PARAM5_X;
  if (Math.abs(item.y) > 180e7) return MavMissionResult.INVALID_PARAM6_Y;
  return Number.isFinite(item.z) ? undefined : MavMissionResult.INVALID_PARAM7;
}

function toItem(message: MissionItemInt): MissionItem {
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
  };
}
