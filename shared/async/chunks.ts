import type { Readable } from 'node:stream';

/** The bytes of a stream that has no encoding and is not of objects: Node's type of what it gives is `any`, also in a loop over it. */
export function chunksOf(stream: Readable): AsyncIterable<Buffer> {
  return stream;
}
