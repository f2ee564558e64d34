import { Readable } from 'node:stream';
import type { ZipFile } from 'yazl';

/** What a ZIP file gives; its types know neither `destroy` nor the bytes of a stream of Node. */
export function zipOutput({ outputStream }: ZipFile): Readable {
  if (outputStream instanceof Readable) return outputStream;
  throw new Error('the ZIP library gives no stream of Node');
}
