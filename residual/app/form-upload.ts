import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { ApiError, messageOf } from '../../shared/errors.ts';

/** The name of the part that holds the file. */
const PART = 'file';
const MAX_FIELDS = 8;

/** The body is no complete form; the message says why. */
export class BadForm extends Error {}

interface FormLimits {
  /** Of the file. */
  readonly maxBytes: number;
  /** Of each other part. */
  readonly fieldBytes: number;
  /** The error for a longer file. */
  readonly tooLarge: () => Error;
}

interface ReceivedForm {
  /** Of the file, hexadecimal. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  /** The other parts, by name. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Stores the part `file` of a multipart body (RFC 7578) as it comes, synced.
 * @param path where; must not exist
 * @throws BadForm; what `tooLarge` makes; ApiError of the body; the file system's own error
 */
export async function receiveForm(
  body: Readable,
  headers: IncomingHttpHeaders,
  path: string,
  { maxBytes, fieldBytes, tooLarge }: FormLimits,
): Promise<ReceivedForm> {
  const form = formOf(headers, maxBytes, fieldBytes);
  const fields = new Map<string, string>();
  const hash = createHash('sha256');
  const stored: Promise<void>[] = [];
  let size = 0;
  let failure: Error | null = null;
  const fail = (error: Error): void => {
    failure ??= error;
    form.destroy(failure);
  };
  form.on('field', (name, value, { valueTruncated }) => {
    if (valueTruncated) fail(new BadForm(`${name} is longer than ${fieldBytes} bytes`));
    else fields.set(name, value);
  });
  form.on('file', (name, part) => {
    if (name !== PART || stored.length > 0) {
      part.resume();
      return;
    }
    part.once('limit', () => fail(tooLarge()));
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, next) {
        size += chunk.length;
        hash.update(chunk);
        next(null, chunk);
      },
    });
    const storing = pipeline(
      part,
      counted,
      createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    );
    stored.push(storing);
    // A form that breaks off ends the part too, which is no failure of the disk.
    storing.catch((error: NodeJS.ErrnoException) =>
      fail(error.syscall === undefined ? new BadForm(error.message) : error),
    );
  });
  try {
    await pipeline(body, form);
    await stored[0];
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw failure ?? new BadForm(messageOf(error));
  } finally {
    await stored[0]?.catch(() => undefined); // `fail` has it; whoever removes the file comes after its last write
  }
  if (stored.length === 0) throw new BadForm(`it has no part "${PART}"`);
  return { sha256: hash.digest('hex'), size, fields };
}

function formOf(headers: IncomingHttpHeaders, maxBytes: number, fieldBytes: number): busboy.Busboy {
  try {
    return busboy({
      headers,
      limits: {
        files: 1,
        fields: MAX_FIELDS,
        parts: MAX_FIELDS + 1,
        fieldSize: fieldBytes,
        fileSize: maxBytes + 1,
      },
    });
  } catch (error) {
    throw new BadForm(messageOf(error));
  }
}
