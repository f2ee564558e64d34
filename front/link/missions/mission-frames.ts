import type { WireItem } from '../../../shared/mavlink/decode-mission.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { MissionPart } from '../../../shared/schemas/mission-item.ts';
import type { Encoder, Target } from '../encode.ts';

/** MAV_MISSION_TYPE */
export const MISSION_TYPE: Readonly<Record<MissionPart, number>> = { mission: 0, fence: 1, rally: 2 };

/** MAV_MISSION_RESULT */
export const RESULT = {
  accepted: 0,
  error: 1,
  unsupported: 3,
  invalidSequence: 13,
  denied: 14,
  cancelled: 15,
} as const;

const RESULT_NAMES = [
  'ACCEPTED',
  'ERROR',
  'UNSUPPORTED_FRAME',
  'UNSUPPORTED',
  'NO_SPACE',
  'INVALID',
  'INVALID_PARAM1',
  'INVALID_PARAM2',
  'INVALID_PARAM3',
  'INVALID_PARAM4',
  'INVALID_PARAM5_X',
  'INVALID_PARAM6_Y',
  'INVALID_PARAM7',
  'INVALID_SEQUENCE',
  'DENIED',
  'OPERATION_CANCELLED',
] as const;

/** MAV_MISSION_RESULT without its prefix. */
export function resultName(result: number): string {
  return RESULT_NAMES[result] ?? `result ${result}`;
}

/** Builds our frames of the mission protocol for one list of one vehicle. */
export class MissionFrames {
  readonly #encoder: Encoder;
  readonly #target: Target;
  readonly #type: number;

  constructor(encoder: Encoder, target: Target, part: MissionPart) {
    this.#encoder = encoder;
    this.#target = target;
    this.#type = MISSION_TYPE[part];
  }

  requestList(): Buffer {
    return this.#encoder.frame(MSG.MISSION_REQUEST_LIST, this.#addressed(Buffer.alloc(3), 0, 2));
  }

  clearAll(): Buffer {
    return this.#encoder.frame(MSG.MISSION_CLEAR_ALL, this.#addressed(Buffer.alloc(3), 0, 2));
  }

  requestInt(seq: number): Buffer {
    const payload = this.#addressed(Buffer.alloc(5), 2, 4);
    payload.writeUInt16LE(seq, 0);
    return this.#encoder.frame(MSG.MISSION_REQUEST_INT, payload);
  }

  count(count: number): Buffer {
    const payload = this.#addressed(Buffer.alloc(9), 2, 4);
    payload.writeUInt16LE(count, 0);
    return this.#encoder.frame(MSG.MISSION_COUNT, payload);
  }

  /** @param result MAV_MISSION_RESULT */
  ack(result: number): Buffer {
    const payload = this.#addressed(Buffer.alloc(8), 0, 3);
    payload.writeUInt8(result, 2);
    return this.#encoder.frame(MSG.MISSION_ACK, payload);
  }

  item(item: WireItem): Buffer {
    const payload = this.#addressed(Buffer.alloc(38), 32, 37);
    payload.writeFloatLE(item.param1, 0);
    payload.writeFloatLE(item.param2, 4);
    payload.writeFloatLE(item.param3, 8);
    payload.writeFloatLE(item.param4, 12);
    payload.writeInt32LE(item.x, 16);
    payload.writeInt32LE(item.y, 20);
    payload.writeFloatLE(item.z, 24);
    payload.writeUInt16LE(item.seq, 28);
    payload.writeUInt16LE(item.command, 30);
    payload.writeUInt8(item.frame, 34);
    payload.writeUInt8(item.seq === 0 ? 1 : 0, 35); // current: where the mission begins
    payload.writeUInt8(item.autocontinue, 36);
    return this.#encoder.frame(MSG.MISSION_ITEM_INT, payload);
  }

  #addressed(payload: Buffer, targetAt: number, typeAt: number): Buffer {
    payload.writeUInt8(this.#target.system, targetAt);
    payload.writeUInt8(this.#target.component, targetAt + 1);
    payload.writeUInt8(this.#type, typeAt);
    return payload;
  }
}
