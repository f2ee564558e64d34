import { crc32 } from 'node:zlib';
import { MavSeverity } from '../flight/craft.ts';
import { ITEM_NAMES, type MissionItem, NAV } from '../flight/mission.ts';
import { MavMissionResult } from '../mavlink/mavlink-values.ts';
import { type MissionItemInt, MissionRequest, MissionRequestInt } from '../mavlink/messages.ts';
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

const RETRY_MS = 250;
const TIMEOUT_MS = 5000;
const GLOBAL: ReadonlySet<number> = new Set([0, 3, 5, 6]);
const MISSION_FRAME = 2;
const VERTICES: ReadonlySet<number> = new Set([5001, 5002]);
const RALLY_POINT = 5100;

/** The parameters that PX4 keeps of a command with a place (mavlink_mission.cpp); all of one without. */
const KEPT: ReadonlyMap<number, string> = new Map([
  [NAV.waypoint, '124'],
  [NAV.loiterUnlimited, '34'],
  [NAV.loiterTime, '123'],
  [NAV.land, '24'],
  [NAV.takeoff, '4'],
  [5001, '1'],
  [5002, '1'],
  [5003, '1'],
  [5004, '1'],
]);
const PLACED: ReadonlySet<number> = new Set([
  NAV.waypoint,
  NAV.loiterUnlimited,
  NAV.loiterTime,
  NAV.land,
  NAV.takeoff,
]);

/** What PX4 1.15 on a v6 board takes. */
export const PX4_ITEMS: ItemDialect = { max: [1000, 64, 32], judge, stored };

function judge(type: ListType, item: MissionItemInt): MavMissionResult | undefined {
  const command: number = item.command;
  const frame: number = item.frame;
  const fence = command >= 5000 && command <= 5004;
  const known = ITEM_NAMES[command] !== undefined || fence || command === RALLY_POINT;
  if (!GLOBAL.has(frame) && frame !== MISSION_FRAME) return MavMissionResult.UNSUPPORTED_FRAME;
  const placed = PLACED.has(command) || fence || command === RALLY_POINT;
  if (!known || placed !== GLOBAL.has(frame)) return MavMissionResult.UNSUPPORTED;
  if (type === 0 && (fence || command === RALLY_POINT)) return MavMissionResult.ERROR;
  if (type === 1 && VERTICES.has(command) && item.param1 < 2.5) return MavMissionResult.ERROR;
  return undefined;
}

function stored(_type: ListType, item: MissionItem): MissionItem {
  if (item.frame === MISSION_FRAME) return item;
  const kept = KEPT.get(item.command) ?? '';
  const keep = (n: string, value: number): number => (kept.includes(n) ? value : 0);
  const relative = item.frame === 3 || item.frame === 6;
  return {
    ...item,
    frame: relative ? 6 : 5,
    p1: keep('1', item.p1),
    p2: keep('2', item.p2),
    p3: keep('3', item.p3),
    p4: keep('4', ((item.p4 % 360) + 360) % 360), // NaN stays NaN
  };
}

interface Transfer {
  readonly kind: 'receiving' | 'sending';
  readonly peer: Peer;
  readonly type: ListType;
  readonly count: number;
  readonly items: MissionItem[];
  /** The item that is asked for, or that may be asked for next. */
  seq: number;
  sent: number;
  heard: number;
}

/** PX4's MavlinkMissionManager: one transfer at a time, of one list with one partner; a list is replaced when it is complete. */
export class Px4Missions implements MissionLink {
  readonly #options: MissionLinkOptions;
  readonly #sender: MissionSender;
  #transfer: Transfer | null = null;
  /** The partner's newest transfer, to acknowledge its last item again. */
  #done: Transfer | null = null;
  #isInt = true;
  readonly #ids: [number, number, number] = [0, 0, 0];

  constructor(options: MissionLinkOptions) {
    this.#options = options;
    this.#sender = new MissionSender(options);
    for (const type of [0, 1, 2] as const) this.#ids[type] = idOf(options.lists[type].items);
  }

  get busy(): boolean {
    return this.#transfer !== null;
  }

  ids(): readonly [number, number, number] {
    return this.#ids;
  }

  reset(): void {
    this.#transfer = null;
  }

  list(peer: Peer, type: number, now: number): void {
    const { lists, craft } = this.#options;
    const open = this.#transfer;
    const again =
      open?.kind === 'sending' && (open.seq === open.count || (isPartner(open, peer) && open.type === type));
    if (!isListType(type) || (open !== null && !again)) {
      craft.text(MavSeverity.INFO, 'Mission download request ignored, already active');
      return;
    }
    const { count } = lists[type];
    this.#transfer = { kind: 'sending', peer, type, count, items: [], seq: 0, sent: now, heard: now };
    this.#sender.count(peer, type, this.#ids[type]);
  }

  request(peer: Peer, seq: number, type: number, isInt: boolean, now: number): void {
    this.#isInt = isInt;
    const open = this.#transfer;
    if (open === null) return;
    if (!isPartner(open, peer)) {
      this.#options.craft.text(MavSeverity.CRITICAL, 'REJ. WP CMD: partner id mismatch');
      return;
    }
    if (open.kind !== 'sending') {
      this.#options.craft.text(MavSeverity.CRITICAL, 'WPM: REJ. CMD: Busy');
      return;
    }
    if (open.type !== type) return;
    open.heard = now;
    const next = seq === open.seq && seq < open.count;
    if (next) open.seq++;
    if ((next || seq === open.seq - 1) && this.#sender.item(peer, seq, open.type)) return;
    this.#transfer = null;
    this.#sender.ack(peer, MavMissionResult.ERROR, open.type);
    this.#options.craft.text(MavSeverity.CRITICAL, 'WPM: REJ. CMD: Req. WP was unexpected');
  }

  begin(peer: Peer, count: number, type: number, now: number): void {
    const open = this.#transfer;
    if (!isListType(type)) {
      this.#sender.ack(peer, MavMissionResult.INVALID, type);
      return;
    }
    if (open !== null) {
      const again = open.kind === 'receiving' && isPartner(open, peer) && open.seq === 0;
      if (again) this.#ask(open, now);
      else this.#sender.ack(peer, MavMissionResult.ERROR, type);
      return;
    }
    if (count > this.#options.dialect.max[type]) this.#sender.ack(peer, MavMissionResult.NO_SPACE, type);
    else if (count === 0) this.clear(peer, type);
    else {
      this.#transfer = { kind: 'receiving', peer, type, count, items: [], seq: 0, sent: now, heard: now };
      this.#ask(this.#transfer, now);
    }
  }

  item(peer: Peer, message: MissionItemInt, now: number): void {
    this.#isInt = true;
    const open = this.#transfer;
    const type: number = message.missionType;
    if (open === null) {
      const done = this.#done;
      const again =
        done !== null && isPartner(done, peer) && done.type === type && message.seq === done.count - 1;
      const result = again ? MavMissionResult.ACCEPTED : MavMissionResult.ERROR;
      this.#sender.ack(peer, result, type, again && isListType(type) ? this.#ids[type] : 0);
      return;
    }
    if (!isPartner(open, peer)) {
      this.#options.craft.text(MavSeverity.CRITICAL, 'REJ. MIS ITEM: partner id mismatch');
      return;
    }
    if (open.kind !== 'receiving' || open.type !== type) {
      this.#sender.ack(peer, MavMissionResult.ERROR, type);
      return;
    }
    open.heard = now;
    if (message.seq !== open.seq) return;
    const refusal = this.#options.dialect.judge(open.type, message);
    if (refusal !== undefined) {
      this.#transfer = null;
      this.#options.craft.text(MavSeverity.CRITICAL, 'IGN MISSION_ITEM: Invalid item');
      this.#sender.ack(peer, refusal, type);
      return;
    }
    open.items.push(toItem(message));
    open.seq++;
    if (open.seq < open.count) {
      this.#ask(open, now);
      return;
    }
    this.#transfer = null;
    this.#done = open;
    this.#replace(open.type, open.items);
    this.#sender.ack(peer, MavMissionResult.ACCEPTED, type, this.#ids[open.type]);
  }

  clear(peer: Peer, type: number): void {
    if (this.#transfer !== null) {
      this.#options.craft.text(MavSeverity.CRITICAL, 'WPM: IGN CLEAR CMD: Busy');
      return;
    }
    for (const each of [0, 1, 2] as const) if (each === type || type === ALL_LISTS) this.#replace(each, []);
    this.#sender.ack(peer, MavMissionResult.ACCEPTED, type);
  }

  ack(peer: Peer, type: number): void {
    const open = this.#transfer;
    if (open?.kind === 'sending' && isPartner(open, peer) && open.type === type) this.#transfer = null;
  }

  reached(seq: number): void {
    this.#sender.reached(seq);
  }

  tick(now: number): void {
    const open = this.#transfer;
    if (open === null) return;
    if (now - open.heard > TIMEOUT_MS) {
      this.#transfer = null;
      this.#options.craft.text(MavSeverity.CRITICAL, 'Operation timeout');
    } else if (open.kind === 'receiving' && now - open.sent > RETRY_MS) this.#ask(open, now);
  }

  #replace(type: ListType, items: readonly MissionItem[]): void {
    this.#options.lists[type].replace(items);
    this.#ids[type] = idOf(items);
    if (type === 0) this.#sender.storeTotal();
  }

  #ask(transfer: Transfer, now: number): void {
    transfer.sent = now;
    const { peer, seq, type: missionType } = transfer;
    const question = this.#isInt ? MissionRequestInt : MissionRequest;
    this.#options.channel.send(question, { ...target(peer), seq, missionType });
  }
}

function isPartner({ peer }: Transfer, { sysid, compid }: Peer): boolean {
  return peer.sysid === sysid && peer.compid === compid;
}

function idOf(items: readonly MissionItem[]): number {
  return items.length === 0 ? 0 : crc32(JSON.stringify(items));
}
