import xz from 'xz-decompress';

/**
 * Unpacks an .xz file, as PX4 keeps its metadata on board.
 * @param limit bytes that it may come to at most
 * @throws Error for what is no .xz file, is damaged or cut off, or would be larger than `limit`
 */
export async function unxz(file: Buffer, limit: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const part of new xz.XzReadableStream(new Blob([new Uint8Array(file)]).stream())) {
    total += part.length;
    if (total > limit) throw new Error(`it is larger than ${limit} bytes`);
    parts.push(part.slice()); // the stream writes the next part into the same memory
  }
  return Buffer.concat(parts);
}
