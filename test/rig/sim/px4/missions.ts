import { crc32 } from 'node:zlib';
import { MavSeverity } from '../../../../bin/sim/flight/craft.ts';
import { type MissionItem, NAV } from '../../../../bin/sim/flight/mission.ts';
import {
  type MissionItemInt,
  MissionRequest,
  MissionRequestInt,
} from '../../../../bin/sim/mavlink/messages.ts';
import {
  ALL_LISTS,
  isListType,
  type MissionLink,
  type MissionLinkOptions,
  MissionSender,
  type Peer,
  target,
} from '../../../../bin/sim/mavlink/mission-link.ts';
import { type ItemDialect, type ListType, toItem } from '../../../../bin/sim/mavlink/mission-lists.ts';
import { MavMissionResult } from '../../../../bin/sim/mavlink-values.ts';

const RETRY_MS = 250;
const TIMEOUT_MS = 5000;
const GLOBAL: ReadonlySet<number> = new Set([0, 3, 5, 6]);
const MISSION_FRAME = 2;
const VERTICES: ReadonlySet<number> = new Set([5001, 5002]);
const RALLY_POINT = 5100;
const DO_SET_ROI = 201;

/**
 * What PX4 keeps of a command with a place (mavlink_mission.cpp): its MAV_CMD, then param1 to param4. 0: told as 0. f: float32.
 * u16: cut to a whole number. near: the nearest one. on: 0 or 1. yaw: radians, from 0 to 360 degrees.
 */
const PLACED: ReadonlyMap<number, readonly string[]> = new Map(
  `
16 f f 0 yaw
17 0 0 f yaw
19 f on f on
21 0 u16 0 yaw
22 0 0 0 yaw
31 on f 0 on
80 0 0 0 0
84 0 0 0 yaw
85 0 0 0 yaw
195 0 0 0 0
201 0 0 0 0
212 0 0 0 0
400 0 0 0 0
4501 0 0 0 0
5000 0 0 0 0
5001 near 0 0 0
5002 near 0 0 0
5003 f 0 0 0
5004 f 0 0 0
5100 0 0 0 0
`
    .trim()
    .split('\n')
    .map((line) => {
      const [command, ...ways] = line.split(' ');
      return [Number(command), ways];
    }),
);

/** Its commands without one, of which it keeps all. */
const PLACELESS: ReadonlySet<number> = new Set([
  20, 80, 93, 112, 114, 177, 178, 179, 187, 189, 196, 197, 200, 201, 203, 204, 205, 206, 211, 212, 214, 260,
  400, 530, 532, 534, 1000, 1001, 2000, 2001, 2003, 2500, 2501, 3000, 42600,
]);
/** NAV_ROI and DO_SET_ROI, both kept as the latter; with a place if param1 is MAV_ROI_LOCATION or NONE, else without. */
const ROI: ReadonlySet<number> = new Set([80, 201]);
const ROI_PLACED: ReadonlySet<number> = new Set([0, 3]);
const ROI_PLACELESS: ReadonlySet<number> = new Set([0, 1, 2]);

/** What PX4 1.17 on a v6 board takes. */
export const PX4_ITEMS: ItemDialect = { max: [1000, 64, 32], judge, stored };

function judge(type: ListType, item: MissionItemInt): MavMissionResult | undefined {
  const command: number = item.command;
  const frame: number = item.frame;
  const placed = GLOBAL.has(frame);
  if (!placed && frame !== MISSION_FRAME) return MavMissionResult.UNSUPPORTED_FRAME;
  if (!(placed ? PLACED.has(command) : PLACELESS.has(command))) return MavMissionResult.UNSUPPORTED;
  if (ROI.has(command) && !(placed ? ROI_PLACED : ROI_PLACELESS).has(Math.trunc(item.param1)))
    return MavMissionResult.INVALID_PARAM1;
  const foreign = command === RALLY_POINT || (command > 5000 && command <= 5004);
  if (type === 0 && foreign) return MavMissionResult.ERROR;
  if (type === 1 && VERTICES.has(command) && item.param1 < 2.5) return MavMissionResult.ERROR;
  return undefined;
}

function stored(type: ListType, item: MissionItem): MissionItem {
  const command = ROI.has(item.command) ? DO_SET_ROI : item.command;
  if (command === NAV.jump) return { ...item, p1: keep('u16', item.p1), p2: keep('u16', item.p2) };
  if (item.frame === MISSION_FRAME) return { ...item, command };
  const ways = PLACED.get(item.command) ?? [];
  const [p1 = 0, p2 = 0, p3 = 0, p4 = 0] = [item.p1, item.p2, item.p3, item.p4].map((value, n) =>
    keep(ways[n] ?? '0', value),
  );
  // A fence's point has no frame of its own, and nothing but a mission's item goes on by itself.
  const relative = type !== 1 && (item.frame === 3 || item.frame === 6);
  const autocontinue = type === 1 ? 0 : item.autocontinue;
  return { ...item, command, frame: relative ? 6 : 5, p1, p2, p3, p4, autocontinue };
}

function keep(way: string, value: number): number {
  switch (way) {
    case 'f':
      return value;
    case 'on':
      return value > 0 ? 1 : 0;
    case 'u16':
      return Math.trunc(value) & 0xffff;
    case 'near':
      return Math.trunc(value + 0.5);
    case 'yaw':
      return ((value % 360) + 360) % 360; // NaN stays NaN
    default:
      return 0;
  }
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
  /** A list that is taken, and comes after the one before was told once more. */
  #late: { readonly type: ListType; readonly items: readonly MissionItem[] } | null = null;

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
    const refusal = this.#options.dialect.judge(open.type, message, open.count);
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
    const { faults } = this.#options;
    if (faults.loseLists > 0) {
      faults.loseLists--;
      this.#late = open;
    } else this.#replace(open.type, open.items);
    this.#sender.ack(peer, MavMissionResult.ACCEPTED, type, idOf(open.items));
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
    if (open?.kind !== 'sending' || !isPartner(open, peer) || open.type !== type) return;
    this.#transfer = null;
    if (this.#late?.type === type) this.#replace(this.#late.type, this.#late.items);
    this.#late = null;
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
