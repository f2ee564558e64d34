import type { LogBytes } from './log-bytes.ts';
import { NUMBERS } from './numbers.ts';

/** PX4's log (https://docs.px4.io/main/en/dev_log/ulog_file_format.html), from its start to its end. */

const MAGIC = Uint8Array.of(0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35);
const HEADER_BYTES = 16;
const HEAD_BYTES = 3;
const SYNC = Uint8Array.of(0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12);
const TYPES = new Set([...'BFIMPQARDLCSO'].map((letter) => letter.charCodeAt(0)));
/** Incompatible flags of the first byte that are known: data is appended at the end. */
const APPENDED = 1;
const FLAGS = 'B'.charCodeAt(0);
const FLAGS_BYTES = 40;
const INCOMPATIBLE = 8;
const OFFSETS = [16, 24, 32] as const;

/** What PX4 writes around the words of its console. */
const COLOUR = /\p{Cc}\[[\d;]*m/gu;

/** The words of a logged message, without the colours of PX4's console. */
export function loggedWords(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll(COLOUR, '');
}

/** When a log begins by its header, s since the vehicle was switched on; topics that were published before stand in it, too. */
export function ulogStart(log: LogBytes): number | null {
  return log.has(HEADER_BYTES) ? NUMBERS.uint64_t[1](log.view, log.start + MAGIC.length + 1) / 1e6 : null;
}

/** Whether a ULog comes next. */
export function isUlog(log: LogBytes): boolean {
  return log.isNext(MAGIC);
}

/**
 * Reads a log to its end, or to where it was cut off.
 * @param onMessage told of each message: its letter, where its body begins in `log.bytes`, and how long that is; false: enough
 * @returns false for one that says it is written in a way that this reader does not know
 */
export function walkUlog(
  log: LogBytes,
  onMessage: (type: string, at: number, size: number) => boolean,
): boolean {
  let appended: readonly number[] = [];
  log.skip(HEADER_BYTES);
  while (log.has(HEAD_BYTES)) {
    const size = log.view.getUint16(log.start, true);
    const type = log.view.getUint8(log.start + 2);
    const { position } = log;
    const next = appended.find((offset) => offset > position);
    if (next !== undefined && position + HEAD_BYTES + size > next) {
      log.skip(next - position); // the part before it ended in the middle of a message
      continue;
    }
    if (!TYPES.has(type)) {
      if (!resynchronize(log)) break;
      continue;
    }
    if (!log.has(HEAD_BYTES + size)) break;
    const at = log.start + HEAD_BYTES;
    if (type === FLAGS && size >= FLAGS_BYTES) {
      if (!isKnown(log.bytes.subarray(at + INCOMPATIBLE, at + OFFSETS[0]))) return false;
      appended = OFFSETS.map((offset) => NUMBERS.uint64_t[1](log.view, at + offset));
    }
    if (!onMessage(String.fromCharCode(type), at, size)) break;
    log.skip(HEAD_BYTES + size);
  }
  return true;
}

function isKnown([first = 0, ...others]: Uint8Array): boolean {
  return (first & ~APPENDED) === 0 && others.every((flags) => flags === 0);
}

/** Goes on at the next message whose bytes nothing else has. */
function resynchronize(log: LogBytes): boolean {
  while (log.seek(SYNC.length)) {
    if (!log.has(HEAD_BYTES + SYNC.length)) return false;
    if (log.isNext(SYNC, HEAD_BYTES)) return true;
  }
  return false;
}
