/** CRC-16/MCRF4XX (X.25) as MAVLink uses it: reflected polynomial 0x8408, initial value 0xffff. */
const TABLE = new Uint16Array(256);
for (let index = 0; index < 256; index++) {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ 0x8408 : value >>> 1;
  TABLE[index] = value;
}

/**
 * The checksum of a frame: bytes `from` to `to` (exclusive), then the message's CRC_EXTRA. The caller checks the bounds; the
 * assertions below save a check in the hottest loop of the process.
 * @param from the byte after the start byte
 * @param to the first byte of the checksum
 * @returns 0..65535, little-endian in the frame
 */
export function frameCrc(bytes: Uint8Array, from: number, to: number, extra: number): number {
  let crc = 0xffff;
  for (let at = from; at < to; at++) {
    crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[at] as number)) & 0xff] as number);
  }
  return (crc >>> 8) ^ (TABLE[(crc ^ extra) & 0xff] as number);
}
