import { recordOf } from '../../../shared/member.ts';
import type { Failsafes } from '../flight/failsafe.ts';
import { FRAMES, fromFrame } from '../flight/mission.ts';
import { MavResult, MavType } from '../mavlink-values.ts';
import type { Acks } from './acks.ts';
import { type Command, type CommandDeck, perform } from './commands.ts';
import type { FtpServer } from './ftp.ts';
import type { LogLink } from './log-link.ts';
import {
  CommandInt,
  CommandLong,
  FileTransferProtocol,
  Heartbeat,
  LogErase,
  LogRequestData,
  LogRequestEnd,
  LogRequestList,
  ManualControl,
  type MessageType,
  MissionAck,
  MissionClearAll,
  MissionCount,
  MissionItemInt,
  MissionRequest,
  MissionRequestInt,
  MissionRequestList,
  MissionSetCurrent,
  ParamRequestList,
  ParamRequestRead,
  ParamSet,
  RequestDataStream,
  SetMode,
  SetPositionTargetGlobalInt,
  SetPositionTargetLocalNed,
  SetupSigning,
} from './messages.ts';
import type { MissionLink } from './mission-link.ts';
import type { ParamLink } from './param-link.ts';
import type { Signing } from './signing.ts';
import { decode, type Frame } from './wire.ts';

/** Whom received messages go to. */
export interface InboxDeck extends CommandDeck {
  readonly acks: Acks;
  readonly paramLink: ParamLink;
  readonly missionLink: MissionLink;
  readonly logLink: LogLink;
  readonly failsafes: Failsafes;
  readonly signing: Signing;
  /** Absent: the vehicle knows no FTP. */
  readonly ftp: FtpServer | undefined;
  /** Wall clock, ms. */
  readonly now: () => number;
}

type Receiver = (deck: InboxDeck, frame: Frame) => void;

const DO_SET_MODE = 176;
const NOWHERE = { lat: 0, lon: 0, alt: 0, frame: 0 };

const RECEIVERS: ReadonlyMap<number, Receiver> = new Map<number, Receiver>([
  on(Heartbeat, ({ channel, failsafes, craft, logLink, now }, { type }: { type: number }, peer) => {
    logLink.heard(now());
    if (type === MavType.GCS) channel.heardStation();
    if (type === MavType.GCS && peer.sysid === craft.params.get('SYSID_MYGCS')) failsafes.heardGcs(now());
  }),
  on(ManualControl, ({ craft, firmware }, { target, x, y, z, r }, peer) => {
    if (target !== craft.params.get('SYSID_THISMAV')) return;
    if (!firmware.sticksOfAnyone && peer.sysid !== craft.params.get('SYSID_MYGCS')) return;
    craft.sticks = { x, y, z, r, at: craft.vehicle.time };
  }),
  on(SetMode, (deck, { baseMode, customMode }, peer) => {
    const { ack, params } = deck.firmware.setMode(customMode);
    const [p2 = 0, p3 = 0] = params;
    const order = { id: DO_SET_MODE, from: peer.compid, p1: baseMode, p2, p3, p4: 0, ...NOWHERE };
    carryOut(deck, order, peer, ack);
  }),
  on(ParamRequestList, ({ paramLink, banner, firmware, now }) => {
    paramLink.list(now());
    if (firmware.bannerWithParams) banner();
  }),
  on(ParamRequestRead, ({ paramLink }, { paramId, paramIndex }, peer) =>
    paramLink.read(peer, paramId, paramIndex),
  ),
  on(ParamSet, ({ paramLink }, { paramId, paramType }, peer) => {
    // A float would not bring all bits through: PX4's integers look like NaN now and then.
    const bits = Buffer.alloc(4);
    peer.payload.copy(bits, 0, 0, 4);
    paramLink.set(peer, paramId, bits, paramType);
  }),
  on(RequestDataStream, ({ streams }, { reqStreamId, reqMessageRate, startStop }) =>
    streams.request(reqStreamId, reqMessageRate, startStop === 1),
  ),
  on(CommandLong, (deck, m, peer) => {
    const frame = deck.firmware.longFrame(m.command);
    if (frame === undefined) {
      deck.acks.send(m.command, MavResult.UNSUPPORTED, peer);
      return;
    }
    const place = { lat: param(m, 5), lon: param(m, 6), alt: param(m, 7), frame };
    carryOut(deck, { ...command(m, peer), ...place }, peer);
  }),
  on(CommandInt, (deck, m, peer) => {
    const { intFrame } = deck.firmware;
    const frame: number = m.frame;
    if (intFrame !== undefined && frame !== intFrame) {
      deck.acks.send(m.command, MavResult.COMMAND_UNSUPPORTED_MAV_FRAME, peer);
      return;
    }
    const place = { lat: param(m, 5) / 1e7, lon: param(m, 6) / 1e7, alt: param(m, 7), frame };
    carryOut(deck, { ...command(m, peer), ...place }, peer);
  }),
  on(SetPositionTargetGlobalInt, setPositionTarget),
  on(MissionRequestList, ({ missionLink, now }, { missionType }, peer) =>
    missionLink.list(peer, missionType, now()),
  ),
  on(MissionRequest, ({ missionLink, now }, m, peer) =>
    missionLink.request(peer, m.seq, m.missionType, false, now()),
  ),
  on(MissionRequestInt, ({ missionLink, now }, m, peer) =>
    missionLink.request(peer, m.seq, m.missionType, true, now()),
  ),
  on(MissionAck, ({ missionLink }, { missionType }, peer) => missionLink.ack(peer, missionType)),
  on(SetPositionTargetLocalNed, setLocalTarget),
  on(MissionCount, ({ missionLink, now }, m, peer) => missionLink.begin(peer, m.count, m.missionType, now())),
  on(MissionItemInt, ({ missionLink, now }, m, peer) => missionLink.item(peer, m, now())),
  on(MissionClearAll, ({ missionLink }, { missionType }, peer) => missionLink.clear(peer, missionType)),
  on(FileTransferProtocol, ({ ftp, now }, { payload }, peer) =>
    ftp?.receive(peer, Buffer.from(payload), now()),
  ),
  on(LogRequestList, ({ logLink, now }, { start, end }) => logLink.list(start, end, now())),
  on(LogRequestData, ({ logLink, now }, { id, ofs, count }) => logLink.data(id, ofs, count, now())),
  on(LogErase, ({ logLink }) => logLink.erase()),
  on(LogRequestEnd, ({ logLink }) => logLink.end()),
  on(SetupSigning, ({ signing, faults }, { secretKey, initialTimestamp }) => {
    if (!faults.refuseSigning) signing.setup(Buffer.from(secretKey), initialTimestamp);
  }),
  on(MissionSetCurrent, ({ mission, streams }, { seq }) => {
    if (mission.jump(seq)) streams.sendNow(42);
  }),
]);

/** Acts on one received frame. A message that the vehicle does not know, or that is for another, is left alone. */
export function receive(deck: InboxDeck, frame: Frame): void {
  RECEIVERS.get(frame.msgid)?.(deck, frame);
}

/** @param ack the number that it is acknowledged under */
function carryOut(deck: InboxDeck, order: Command, peer: Frame, ack = order.id): void {
  const answer = (result: MavResult): void => deck.acks.send(ack, result, peer);
  const result = perform(deck, order, answer);
  if (result !== undefined) answer(result);
}

function on<T extends object>(
  type: MessageType<T>,
  act: (deck: InboxDeck, message: T, from: Frame) => void,
): readonly [number, Receiver] {
  return [
    type.MSG_ID,
    (deck, frame) => {
      const message = decode(type, frame);
      if (isForUs(message, deck.craft.params.get('SYSID_THISMAV'))) act(deck, message, frame);
    },
  ];
}

type CommandHead = Pick<Command, 'id' | 'from' | 'p1' | 'p2' | 'p3' | 'p4'>;

function command(m: CommandLong | CommandInt, { compid }: Frame): CommandHead {
  return { id: m.command, from: compid, p1: param(m, 1), p2: param(m, 2), p3: param(m, 3), p4: param(m, 4) };
}

function param(m: CommandLong | CommandInt, n: 1 | 2 | 3 | 4 | 5 | 6 | 7): number {
  return m[`_param${n}`];
}

function isForUs(message: object, sysid: number): boolean {
  const { targetSystem = 0, targetComponent = 0 } = recordOf(message);
  return (targetSystem === 0 || targetSystem === sysid) && (targetComponent === 0 || targetComponent === 1);
}

// Type mask bits that say "ignore": position 1|2|4, velocity 8|16|32, yaw 1024.
function setPositionTarget(deck: InboxDeck, m: SetPositionTargetGlobalInt): void {
  const { craft, modes } = deck;
  const guided = deck.roles.offboard;
  const mask: number = m.typeMask;
  guided.heard();
  if (modes.current !== guided || !FRAMES.has(m.coordinateFrame)) return;
  // An ignored field may be NaN; a used one that is would make the whole vehicle NaN.
  if ((mask & 7) === 0) {
    if (!Number.isFinite(m.alt)) return;
    const { origin, home } = craft.vehicle;
    const target = fromFrame(origin, home, m.coordinateFrame, m.latInt / 1e7, m.lonInt / 1e7, m.alt);
    guided.goTo(target, (mask & 1024) === 0 && Number.isFinite(m.yaw) ? m.yaw : undefined);
  } else if ((mask & 56) === 0 && [m.vx, m.vy, m.vz].every(Number.isFinite))
    guided.moveAt({ vn: m.vx, ve: m.vy, vu: -m.vz });
}

// Velocities only. MAV_FRAME_LOCAL_NED is 1, MAV_FRAME_BODY_NED 8.
function setLocalTarget(
  { craft, modes, roles: { offboard } }: InboxDeck,
  m: SetPositionTargetLocalNed,
): void {
  const frame: number = m.coordinateFrame;
  const mask: number = m.typeMask;
  if (frame !== 1 && frame !== 8) return;
  offboard.heard();
  if (modes.current !== offboard || (mask & 56) !== 0) return;
  if (![m.vx, m.vy, m.vz].every(Number.isFinite)) return;
  const turn = frame === 8 ? craft.vehicle.yaw : 0;
  const vn = m.vx * Math.cos(turn) - m.vy * Math.sin(turn);
  const ve = m.vx * Math.sin(turn) + m.vy * Math.cos(turn);
  offboard.moveAt({ vn, ve, vu: -m.vz });
}
