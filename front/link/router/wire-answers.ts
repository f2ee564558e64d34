import { type Frame } from '../../../shared/mavlink/frame.ts';
import { COMMAND_AT, FTP_AT } from '../../../shared/mavlink/message-classes.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { Clock } from '../clock.ts';
import { type Encoder, frameOf, type Target } from '../encode.ts';
import { EVERYBODY, targetOf } from './addresses.ts';
import type { WireRefusal } from './wire-guard.ts';

/** A parameter as the vehicle sent it: its raw 32 bits, its MAV_PARAM_TYPE. */
interface KnownParam {
  readonly bits: number;
  readonly type: number;
  readonly index: number;
}

/** At most one text for each reason and peer in this time: ground stations repeat a frame many times. */
const REPEAT_MS = 1000;
/** The same for a reason that refuses every frame of a peer. */
const UNSIGNED_REPEAT_MS = 30_000;
const SEVERITY_WARNING = 4;

// MAV_RESULT
const TEMPORARILY_REJECTED = 1;
const DENIED = 2;
/** MAV_PARAM_ERROR_PERMISSION_DENIED */
const PERMISSION_DENIED = 3;
/** MAVLink FTP: opcode NAK, error "FileProtected". */
const NAK = 129;
const FILE_PROTECTED = 9;

/** MAV_MISSION_DENIED */
const MISSION_DENIED = 14;
/** PARAM_ERROR of common.xml (2025); node-mavlink does not have it yet. */
const PARAM_ERROR = 345;
const SET_MODE = 11;
/** MAV_COMP_ID_AUTOPILOT1 */
const MAIN_COMPONENT = 1;

const NAMES: ReadonlyMap<number, string> = new Map([
  [MSG.PARAM_SET, 'PARAM_SET'],
  [MSG.SETUP_SIGNING, 'SETUP_SIGNING'],
  [MSG.FILE_TRANSFER_PROTOCOL, 'FTP write'],
  [MSG.SERIAL_CONTROL, 'SERIAL_CONTROL'],
  [MSG.LOG_ERASE, 'LOG_ERASE'],
]);

interface WireAnswersOptions {
  readonly clock: Clock;
  /** Encodes frames in our own name. */
  readonly encoder: Encoder;
  readonly autopilot: () => Target | null;
  /** The newest sequence number of the autopilot. */
  readonly seq: () => number;
  readonly param: (name: string) => KnownParam | undefined;
  /** How many parameters the vehicle has. */
  readonly paramCount: () => number;
}

/**
 * The answers to a ground station whose frame was refused. One is in the protocol that it used (the unchanged value, a denied
 * command, an FTP error), in the name of whichever system was addressed, because a ground station ignores other senders. The other is a STATUSTEXT of
 * ours with the reason.
 */
export class WireAnswers {
  readonly #options: WireAnswersOptions;
  readonly #payload = new Payload();

  constructor(options: WireAnswersOptions) {
    this.#options = options;
  }

  /**
   * @param said when each reason was last sent to this peer, monotonic ms; the caller keeps it with the peer
   * @returns the frames to send back; none for a read-only peer, which expects this
   */
  answers(frame: Frame, why: WireRefusal, said: Map<string, number>): readonly Buffer[] {
    if (why === 'read-only') return [];
    const text = textOf(frame, why);
    const frames = this.#asVehicle(frame, why);
    const now = this.#options.clock.now();
    const repeat = why === 'unsigned' ? UNSIGNED_REPEAT_MS : REPEAT_MS;
    if (now - (said.get(text) ?? -Infinity) < repeat) return frames;
    said.set(text, now);
    return [...frames, this.#options.encoder.statusText(SEVERITY_WARNING, text)];
  }

  #asVehicle(frame: Frame, why: WireRefusal): readonly Buffer[] {
    const pilot = this.#options.autopilot();
    const target = targetOf(frame);
    const system = target === EVERYBODY ? (pilot?.system ?? null) : target.system;
    if (system === null) return [];
    const main = pilot?.system === system ? pilot.component : MAIN_COMPONENT;
    const component = target.component === 0 ? main : target.component;
    const as: Target = { system, component };
    const own = pilot?.system === system && component === pilot.component;
    switch (frame.id) {
      case MSG.PARAM_SET: {
        const name = this.#payload.load(frame).text(6, 16);
        const entry = own ? this.#options.param(name) : undefined;
        // The error goes first: MAVSDK takes a value that it did not write as a reason to write it again.
        const error = this.#frame(as, PARAM_ERROR, paramError(frame, name));
        if (entry === undefined) return [error];
        const held = paramValue(name, entry, this.#options.paramCount());
        return [error, this.#frame(as, MSG.PARAM_VALUE, held)];
      }
      case MSG.COMMAND_LONG:
      case MSG.COMMAND_INT: {
        const result = why === 'killing' ? TEMPORARILY_REJECTED : DENIED;
        const command = this.#payload.load(frame).u16(COMMAND_AT);
        return [this.#frame(as, MSG.COMMAND_ACK, commandAck(frame, command, result))];
      }
      case SET_MODE: // ArduPilot and PX4 acknowledge the message by its id
        return [this.#frame(as, MSG.COMMAND_ACK, commandAck(frame, SET_MODE, DENIED))];
      case MSG.MISSION_ITEM:
      case MSG.MISSION_ITEM_INT:
      case MSG.MISSION_COUNT:
      case MSG.MISSION_WRITE_PARTIAL_LIST:
      case MSG.MISSION_CLEAR_ALL:
        return [this.#frame(as, MSG.MISSION_ACK, missionAck(frame, this.#payload.load(frame)))];
      case MSG.FILE_TRANSFER_PROTOCOL:
        return [this.#frame(as, MSG.FILE_TRANSFER_PROTOCOL, this.#nak(frame))];
      default:
        return [];
    }
  }

  #frame({ system, component }: Target, id: number, payload: Buffer): Buffer {
    const { encoder, autopilot } = this.#options;
    const seq = autopilot()?.system === system ? this.#options.seq() : 0;
    const frame = frameOf({ id, payload, seq, system, component });
    return encoder.signer === null ? frame : encoder.signer.sign(frame);
  }

  #nak(frame: Frame): Buffer {
    const request = this.#payload.load(frame);
    const payload = Buffer.alloc(254);
    payload.writeUInt8(frame.system, 1);
    payload.writeUInt8(frame.component, 2);
    payload.writeUInt16LE((request.u16(FTP_AT) + 1) & 0xffff, FTP_AT);
    payload.writeUInt8(request.u8(FTP_AT + 2), FTP_AT + 2); // session
    payload.writeUInt8(NAK, FTP_AT + 3);
    payload.writeUInt8(1, FTP_AT + 4); // bytes of data: the error
    payload.writeUInt8(request.u8(FTP_AT + 3), FTP_AT + 5); // the opcode that is refused
    payload.writeUInt8(FILE_PROTECTED, FTP_AT + 12);
    return payload;
  }
}

function paramValue(name: string, { bits, type, index }: KnownParam, count: number): Buffer {
  const payload = Buffer.alloc(25);
  payload.writeUInt32LE(bits, 0);
  payload.writeUInt16LE(count, 4);
  payload.writeUInt16LE(index, 6);
  payload.write(name, 8, 16, 'latin1');
  payload.writeUInt8(type, 24);
  return payload;
}

function paramError({ system, component }: Frame, name: string): Buffer {
  const payload = Buffer.alloc(21);
  payload.writeInt16LE(-1, 0);
  payload.writeUInt8(system, 2);
  payload.writeUInt8(component, 3);
  payload.write(name, 4, 16, 'latin1');
  payload.writeUInt8(PERMISSION_DENIED, 20);
  return payload;
}

function commandAck({ system, component }: Frame, command: number, result: number): Buffer {
  const payload = Buffer.alloc(10);
  payload.writeUInt16LE(command, 0);
  payload.writeUInt8(result, 2);
  payload.writeUInt8(system, 8);
  payload.writeUInt8(component, 9);
  return payload;
}

/** Offset of mission_type in the messages that begin, change, fill or clear a mission. */
const MISSION_TYPE_AT: ReadonlyMap<number, number> = new Map([
  [MSG.MISSION_COUNT, 4],
  [MSG.MISSION_WRITE_PARTIAL_LIST, 6],
  [MSG.MISSION_CLEAR_ALL, 2],
  [MSG.MISSION_ITEM, 37],
  [MSG.MISSION_ITEM_INT, 37],
]);

function missionAck({ id, system, component }: Frame, request: Payload): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt8(system, 0);
  payload.writeUInt8(component, 1);
  payload.writeUInt8(MISSION_DENIED, 2);
  payload.writeUInt8(request.u8(MISSION_TYPE_AT.get(id) ?? 0), 3);
  return payload;
}

function textOf(frame: Frame, why: Exclude<WireRefusal, 'read-only'>): string {
  switch (why) {
    case 'serial-control':
      return 'svc: SERIAL_CONTROL is switched off';
    case 'unsigned':
      return 'svc: refused: the vehicle takes signed frames only';
    case 'killing':
      return 'svc: arming refused: a kill is under way';
    case 'not-pilot':
      return 'svc: refused: somebody else is pilot in command';
    case 'too-far':
      return 'svc: refused: too far, or outside of the fence';
    case 'sticks':
      return 'svc: refused: this mode needs sticks';
    case 'scope':
      return `svc: ${NAMES.get(frame.id) ?? 'refused'}: the token lacks a scope`;
    case 'armed':
      return `svc: ${NAMES.get(frame.id) ?? 'storage/reboot'} refused while armed`;
  }
}
