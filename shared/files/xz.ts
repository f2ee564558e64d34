/**
 * Unpacks an .xz file, as PX4 keeps its metadata on board.
 * @param limit largest size of the result, bytes
 * @throws Error if it is not an .xz file, is damaged or truncated, or would be larger than `limit`
 */
export async function unxz(file: Buffer, limit: number): Promise<Buffer> {
  // Loaded for the first file: it brings web streams, 4 MiB.
  const { default: xz } = await import('xz-decompress');
  const parts: Uint8Array[] = [];
  let total = 0;
  for await (const part of new xz.XzReadableStream(new Blob([new Uint8Array(file)]).stream())) {
    total += part.length;
    if (total > limit) throw new Error(`it is larger than ${limit} bytes`);
    parts.push(part.slice()); // the stream reuses the memory for the next part
  }
  return Buffer.concat(parts);
}
