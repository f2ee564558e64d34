import { frameCrc } from '../../../shared/mavlink/crc.ts';
import { shapeOf } from '../../../shared/mavlink/dialect.ts';
import { type Frame, frameAt } from '../../../shared/mavlink/frame.ts';
import { STX_V1 } from '../../../shared/mavlink/frame-head.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { LinkProblem } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import type { Part } from '../part.ts';

/** So long it is spoken to in version 2: PX4 begins with 1 and changes once it has heard 2 (MAV_PROTO_VER). */
const TRIAL_MS = 4000;
const HEADER = 6;
const CHECKSUM = 2;
const MOST_ID = 0xff;

/** What a vehicle says only where it has understood somebody. */
const ANSWERS: ReadonlySet<number> = new Set([
  MSG.COMMAND_ACK,
  MSG.PARAM_VALUE,
  MSG.AUTOPILOT_VERSION,
  MSG.MISSION_COUNT,
  MSG.MISSION_ACK,
]);

/**
 * Whether the other end of the source understands version 1 alone: it has spoken for some seconds, never in version 2, and has
 * answered nothing that was said in version 2. From then on frames are made version 1, until a frame of version 2 comes.
 */
export class OldProtocol implements Part {
  readonly #clock: Clock;
  readonly #vehicle: () => number | null;
  /** When version 1 was heard first, null: it was not; whether anything shows that version 2 is understood. */
  #since: number | null = null;
  #understands = false;
  #isOld = false;

  /** @param vehicle its system id; null before it is known */
  constructor(clock: Clock, vehicle: () => number | null) {
    this.#clock = clock;
    this.#vehicle = vehicle;
  }

  /** Frames are made version 1. */
  get isOld(): boolean {
    return this.#isOld;
  }

  /** The source has been opened. */
  opened(): void {
    this.#since = null;
    this.#understands = false;
    this.#isOld = false;
  }

  /** A frame from the source. */
  onFrame({ version, id, known, system }: Frame): void {
    if (!known || system !== this.#vehicle()) return;
    if (version === 2) {
      this.#understands = true;
      this.#isOld = false;
      return;
    }
    if (this.#understands) return;
    this.#since ??= this.#clock.now();
    // Once version 1 is spoken an answer shows nothing of version 2.
    if (!this.#isOld && ANSWERS.has(id)) this.#understands = true;
    else if (this.#clock.now() - this.#since >= TRIAL_MS) this.#isOld = true;
  }

  problems(): LinkProblem[] {
    if (!this.#isOld) return [];
    const detail =
      'The vehicle understands MAVLink 1 alone: fences, rally points, long texts and what else version 2 added do not reach it or this node.';
    return [{ code: 'mavlink_1', detail }];
  }

  /** @returns the frame as the other end understands it; null: version 1 cannot say it */
  translated(bytes: Buffer): Buffer | null {
    return this.#isOld ? inVersion1(bytes) : bytes;
  }
}

/** The same message in version 1: without extension fields, zeros at its end written out. */
function inVersion1(bytes: Buffer): Buffer | null {
  const { version, id, seq, system, component, payloadStart, payloadLength } = frameAt(bytes);
  if (version === 1) return bytes;
  const shape = shapeOf(id);
  if (shape === null || id > MOST_ID) return null;
  const { baseLength, crcExtra } = shape;
  const out = Buffer.alloc(HEADER + baseLength + CHECKSUM);
  out.set([STX_V1, baseLength, seq, system, component, id]);
  bytes.copy(out, HEADER, payloadStart, payloadStart + Math.min(payloadLength, baseLength));
  out.writeUInt16LE(frameCrc(out, 1, HEADER + baseLength, crcExtra), HEADER + baseLength);
  return out;
}
