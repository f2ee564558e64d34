import { isAutopilot, isSure } from '../mavlink/autopilot-heartbeat.ts';
import { byteAt } from '../mavlink/byte-at.ts';
import { frameCrc } from '../mavlink/crc.ts';
import { crcExtraOf } from '../mavlink/dialect.ts';
import { messageIdV2, STX_V1, STX_V2 } from '../mavlink/frame-head.ts';
import type { LogBytes } from './log-bytes.ts';

/** A telemetry log: 8 bytes of microseconds since 1970, big-endian, and a frame, again and again. */

export const STAMP_BYTES = 8;
const SHORTEST = 8;
/** Start byte to message id, of the longer version. */
const HEAD = 10;
const LONGEST = 280;
const HIGH = 2 ** 32;

/**
 * Reads a log to its end, or to where it was cut off.
 * @param onFrame told of each frame, which begins `STAMP_BYTES` behind `log.start`, and of its time, s since 1970; false: enough
 */
export function walkTlog(log: LogBytes, onFrame: (at: number, length: number) => boolean): void {
  for (let inStep = false; log.has(STAMP_BYTES + SHORTEST); ) {
    const length = frameLength(log, inStep);
    inStep = length > 0;
    if (length === 0) {
      log.skip(1);
      continue;
    }
    const { view, start } = log;
    const micros = view.getUint32(start) * HIGH + view.getUint32(start + 4);
    if (!onFrame(micros / 1e6, length)) return;
    log.skip(STAMP_BYTES + length);
  }
}

/** Of a frame. */
export interface Sender {
  readonly system: number;
  readonly component: number;
}

/**
 * The autopilot that a log is of: the first that is one by all that it says, else the first that may be one. Cameras, gimbals and
 * ground stations speak first in many logs. @param log at its beginning
 */
export function vehicleIn(log: LogBytes): Sender | null {
  let found: Sender | null = null;
  walkTlog(log, () => {
    const head = headAt(log);
    if (head.id !== HEARTBEAT) return true;
    const at = (place: number): number => (place < head.size ? byteAt(log.bytes, head.payload + place) : 0);
    const heartbeat = { type: at(TYPE_AT), autopilot: at(AUTOPILOT_AT) };
    const isIt = isSure(heartbeat);
    if (isIt || (found === null && isAutopilot(heartbeat, head.component)))
      found = { system: head.system, component: head.component };
    return !isIt;
  });
  return found;
}

/** HEARTBEAT (minimal.xml), and where in its payload type and autopilot are. */
const HEARTBEAT = 0;
const [TYPE_AT, AUTOPILOT_AT] = [4, 5];

interface FrameHead extends Sender {
  readonly id: number;
  /** Where the payload begins in `log.bytes`, and how long it is. */
  readonly payload: number;
  readonly size: number;
}

/** Of the frame that `walkTlog` tells of. */
export function headAt({ bytes, start }: LogBytes): FrameHead {
  const at = start + STAMP_BYTES;
  const isV2 = byteAt(bytes, at) === STX_V2;
  return {
    id: isV2 ? messageIdV2(bytes, at) : byteAt(bytes, at + 5),
    system: byteAt(bytes, at + (isV2 ? 5 : 3)),
    component: byteAt(bytes, at + (isV2 ? 6 : 4)),
    payload: at + (isV2 ? HEAD : 6),
    size: byteAt(bytes, at + 1),
  };
}

/**
 * Bytes of the frame behind the stamp; 0: there is none. A message that no dialect has carries no checksum that can be verified: it is
 * believed only right behind another frame.
 */
function frameLength(log: LogBytes, inStep: boolean): number {
  const stx = byteAt(log.bytes, log.start + STAMP_BYTES);
  if (stx !== STX_V1 && stx !== STX_V2) return 0;
  log.has(STAMP_BYTES + LONGEST);
  const { bytes } = log;
  const at = log.start + STAMP_BYTES;
  const payload = byteAt(bytes, at + 1);
  const signed = stx === STX_V2 && (byteAt(bytes, at + 2) & 1) === 1;
  const length = stx === STX_V1 ? payload + 8 : payload + (signed ? 25 : 12);
  if (!log.has(STAMP_BYTES + length)) return 0;
  const id = stx === STX_V1 ? byteAt(bytes, at + 5) : messageIdV2(bytes, at);
  const extra = crcExtraOf(id);
  if (extra < 0) return inStep ? length : 0;
  const crcAt = at + payload + (stx === STX_V1 ? 6 : HEAD);
  return frameCrc(bytes, at + 1, crcAt, extra) === log.view.getUint16(crcAt, true) ? length : 0;
}
