/** CRC-32 with the common polynomial, not inverted at either end; bit by bit, unlike the simulator's. */
export function plainCrc32(bytes: Buffer, start = 0): number {
  let crc = start;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return crc >>> 0;
}
