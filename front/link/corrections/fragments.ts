/** What one GPS_RTCM_DATA carries, and how many of them one message may fill (https://mavlink.io/en/messages/common.html#GPS_RTCM_DATA). */
const MAX_BYTES = 180;
const MAX_FRAGMENTS = 4;
/** A longer one does not reach the vehicle. */
export const MAX_MESSAGE_BYTES = MAX_FRAGMENTS * MAX_BYTES;

interface Fragment {
  /** Bit 0: it is one of several; bits 1 and 2: which; bits 3 to 7: of which message. */
  readonly flags: number;
  readonly data: Buffer;
}

/**
 * A message as the vehicle puts it together again: its end is a fragment that is not full, if need be an empty one, or the fourth.
 * @param sequence tells it from the messages before and after; its lowest five bits count
 * @returns null if it is longer than four fragments
 */
export function fragmentsOf(message: Buffer, sequence: number): readonly Fragment[] | null {
  if (message.length > MAX_MESSAGE_BYTES) return null;
  const of = (sequence & 0b1_1111) << 3;
  if (message.length <= MAX_BYTES) return [{ flags: of, data: message }];
  const count = Math.min(MAX_FRAGMENTS, Math.floor(message.length / MAX_BYTES) + 1);
  return Array.from({ length: count }, (_, id) => ({
    flags: of | (id << 1) | 1,
    data: message.subarray(id * MAX_BYTES, (id + 1) * MAX_BYTES),
  }));
}
