/** A byte that the caller knows to be there. Where it is not, it is zero, as MAVLink 2 reads what was cut off a payload. */
export function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}
