import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import getRawBody from 'raw-body';
import { ApiError, messageOf } from '../errors.ts';
import { NoText, textOf } from '../files/text-of.ts';
import { readForeignJson } from '../foreign-json.ts';

/** Whether the request announces a body. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

interface JsonBody {
  readonly raw: Buffer;
  /** Undefined for a body of no bytes. */
  readonly value: unknown;
}

/**
 * Reads a JSON body.
 * @param limit bytes
 * @throws ApiError E_MEDIA_TYPE, E_TOO_LARGE, E_BAD_REQUEST (not JSON, not UTF-8, too deep, a key that would change a
 *   prototype, incomplete)
 */
export async function readJson(req: IncomingMessage, limit: number): Promise<JsonBody> {
  return readBody(req, limit, null);
}

/** As `readJson`; a body of the type `media` (null for none) is taken too, and its value is the text. */
export async function readBody(req: IncomingMessage, limit: number, media: string | null): Promise<JsonBody> {
  const isText = media !== null && typeOf(req) === media;
  if (!isText) checkType(req, 'application/json');
  return parsed(await readBytes(req, limit), isText);
}

/** As `readBody`, for a body whose bytes are already there. */
export function parseBody(req: IncomingMessage, raw: Buffer, media: string | null): JsonBody {
  const isText = media !== null && typeOf(req) === media;
  if (!isText) checkType(req, 'application/json');
  return parsed(raw, isText);
}

/** Bodies are taken as they are: unpacked, one of a kilobyte could be a gigabyte. @throws ApiError E_MEDIA_TYPE */
export function checkEncoding({ 'content-encoding': coding = 'identity' }: IncomingHttpHeaders): void {
  if (coding.trim().toLowerCase() !== 'identity')
    throw new ApiError('E_MEDIA_TYPE', 'Send the body without Content-Encoding: it is not unpacked here.');
}

/** @throws ApiError E_MEDIA_TYPE if the Content-Type is another one; its parameters are ignored */
export function checkType(req: Pick<IncomingMessage, 'headers'>, wanted: string): void {
  if (typeOf(req) !== wanted) throw new ApiError('E_MEDIA_TYPE', `Send the body as ${wanted}.`);
}

/** @param limit bytes */
export function tooLarge(limit: number): ApiError {
  return new ApiError('E_TOO_LARGE', `The body is larger than ${limit} bytes.`, { limit });
}

/** The media type of the body, without parameters. */
export function typeOf(req: Pick<IncomingMessage, 'headers'>): string | undefined {
  return (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
}

/** The body's bytes. @param limit bytes @throws ApiError E_TOO_LARGE, E_BAD_REQUEST */
export async function readBytes(req: IncomingMessage, limit: number): Promise<Buffer> {
  return bytesOf(req, req.headers, limit);
}

/** As `readJson`, of the streamed body of a row that takes JSON besides. */
export async function readStreamedJson(
  body: Readable,
  headers: IncomingHttpHeaders,
  limit: number,
): Promise<JsonBody> {
  checkType({ headers }, 'application/json');
  return parsed(await bytesOf(body, headers, limit), false);
}

async function bytesOf(body: Readable, headers: IncomingHttpHeaders, limit: number): Promise<Buffer> {
  checkEncoding(headers);
  const length = headers['content-length'];
  try {
    return await getRawBody(body, { limit, length: length ?? null });
  } catch (error) {
    const kind = typeof error === 'object' && error !== null && 'type' in error ? error.type : null;
    if (kind === 'entity.too.large') throw tooLarge(limit);
    throw new ApiError('E_BAD_REQUEST', `The body arrived incomplete: ${messageOf(error)}.`);
  }
}

/**
 * The body as a stream, if it is too large for the memory.
 * @param limit bytes; a larger body fails with ApiError E_TOO_LARGE, an incomplete one with E_BAD_REQUEST
 */
export function bodyStream(req: IncomingMessage, limit: number): Readable {
  let received = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received <= limit) done(null, chunk);
      else done(tooLarge(limit));
    },
  });
  // Not by `pipeline`, which would close the connection on an error, before the error is answered.
  req.pipe(counted);
  req.once('close', () => {
    if (!req.complete) counted.destroy(new ApiError('E_BAD_REQUEST', 'The body arrived incomplete.'));
  });
  return counted;
}

function parsed(raw: Buffer, isText: boolean): JsonBody {
  if (raw.length === 0) return { raw, value: undefined };
  try {
    if (isText) return { raw, value: textOf(raw) };
    return { raw, value: readForeignJson(raw, Number.POSITIVE_INFINITY) }; // its bytes are bounded by its route
  } catch (error) {
    if (error instanceof NoText) throw new ApiError('E_BAD_REQUEST', 'The body is no text.');
    throw new ApiError('E_BAD_REQUEST', `The body is not acceptable JSON: ${messageOf(error)}.`);
  }
}
