import { fstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import send from 'send';
import { ApiError, ERRORS, type ErrorCode, messageOf } from '../errors.ts';
import type { JsonObject } from '../member.ts';
import { numbered } from '../plugins/refusal.ts';
import { FileReply, Reply } from '../routes/handler.ts';
import type { Refusals } from '../routes/row.ts';

/** The one place that turns a value or an error into bytes, for svc-control and svc-residual. */

const JSON_TYPE = 'application/json';
// Answers must not be cached, and a browser must not guess another type and run them.
const COMMON: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** At most so much of an answer waits in memory for a client that does not read: what is larger goes out in pieces. */
const PIECE = 64 * 1024;

function sendText(
  res: ServerResponse,
  status: number,
  body: string | Buffer,
  mediaType: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const length = Buffer.byteLength(body);
  const content = { 'content-type': mediaType, 'content-length': String(length) };
  res.writeHead(status, { ...COMMON, ...(status === 204 ? {} : content), ...headers });
  // node leaves the body out of an answer to HEAD
  if (length <= PIECE || res.req.method === 'HEAD' || res.destroyed) res.end(body);
  // Both ends are destroyed where the client hangs up, so the error needs no handling.
  else pipeline(Readable.from(piecesOf(bytesOf(body))), res, () => undefined);
}

/** A file that many are sent is not copied for each. */
function bytesOf(body: string | Buffer): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** What is sent for a value that is no stream. */
function bodyOf(value: unknown, mediaType: string): string | Buffer {
  if (Buffer.isBuffer(value)) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // A person reads it in a terminal: the next prompt begins on a line of its own.
  return mediaType === JSON_TYPE && text !== '' ? `${text}\n` : text;
}

/** The same answer with its body as the bytes that are sent, so that their number is known; a stream stays one. */
export function inBytes({ status, body, mediaType, headers }: Reply): {
  readonly reply: Reply;
  readonly bytes: number;
} {
  if (body instanceof Readable) return { reply: new Reply(status, body, mediaType, headers), bytes: 0 };
  const whole = bytesOf(bodyOf(body, mediaType));
  return { reply: new Reply(status, whole, mediaType, headers), bytes: whole.length };
}

export function sendValue(
  res: ServerResponse,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
  refusals: Refusals = 'plain',
): void {
  if (value instanceof FileReply) {
    sendFile(res, value, headers, refusals);
    return;
  }
  // Also a text is JSON, where nobody said otherwise.
  const reply = value instanceof Reply ? value : new Reply(200, JSON.stringify(value ?? null));
  const { body, mediaType, status } = reply;
  const all = { ...reply.headers, ...headers };
  if (body instanceof Readable) sendStream(res, status, body, mediaType, all);
  else sendText(res, status, bodyOf(body, mediaType), mediaType, all);
}

function sendFile(
  res: ServerResponse,
  { file, mediaType, headers: own }: FileReply,
  headers: Readonly<Record<string, string>>,
  refusals: Refusals,
): void {
  for (const [name, value] of Object.entries({ ...COMMON, ...own, ...headers, 'content-type': mediaType }))
    res.setHeader(name, value);
  const close = (): void => {
    file.close().catch((error: unknown) => process.emitWarning(`a file that was sent: ${messageOf(error)}`));
  };
  if (res.closed) {
    close();
    return;
  }
  res.once('close', close);
  res.req.headers.range = rangeFor(res.req.headers.range, file);
  // By its descriptor: between a check of a path and its opening, another user could put a link there.
  send(res.req, `/proc/self/fd/${file.fd}`, { cacheControl: false, dotfiles: 'deny', index: false })
    .on('error', (error: Error & { readonly status?: number }) => {
      if (res.headersSent) res.destroy();
      else if (error.status === 416) {
        const range = res.getHeader('content-range');
        sendFailure(
          res,
          failureOf(new ApiError('E_RANGE_NOT_SATISFIABLE'), refusals),
          typeof range === 'string' ? { 'content-range': range } : {},
        );
      } else
        sendFailure(res, failureOf(new ApiError(error.status === 404 ? 'E_NOT_FOUND' : 'E_STORE'), refusals));
    })
    .pipe(res);
}

/** `send` takes a suffix longer than the file, and an end before the start, for unsatisfiable (RFC 9110, 14.1.1 and 14.2). */
function rangeFor(range: string | undefined, { fd }: FileHandle): string | undefined {
  const [, first = '', last] = /^bytes=(\d*)-(\d+)$/i.exec(range ?? '') ?? [];
  if (last === undefined) return range;
  if (first !== '') return Number(last) < Number(first) ? undefined : range;
  const { size } = fstatSync(fd);
  return size > 0 && Number(last) > size ? 'bytes=0-' : range;
}

/** Streams without a length; the source is closed when the client disconnects, and the connection when the source fails. */
function sendStream(
  res: ServerResponse,
  status: number,
  body: Readable,
  mediaType: string,
  headers: Readonly<Record<string, string>>,
): void {
  res.writeHead(status, { ...COMMON, 'content-type': mediaType, ...headers });
  // A client that has hung up meanwhile: `pipeline` would throw, and the source would go on for nobody.
  if (res.req.method === 'HEAD' || res.destroyed) {
    body.destroy();
    res.end();
    return;
  }
  pipeline(body, res, () => undefined); // both ends are already destroyed, so the error needs no handling
}

export interface Failure {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly extras: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  /** The shape of the body, which is the row's. */
  readonly refusals: Refusals;
}

/**
 * Answers an error; only the text of an ApiError is shown to the client.
 * @param refusals the row's; `plain` where no row is known
 */
export function failureOf(error: unknown, refusals: Refusals = 'plain'): Failure {
  if (error instanceof ApiError) {
    const { code, message: detail, extras, headers } = error;
    return { code, detail, extras, headers, refusals };
  }
  return { code: 'E_INTERNAL', detail: ERRORS.E_INTERNAL[1], extras: {}, headers: {}, refusals };
}

export function failureStatus({ code }: Failure): number {
  return ERRORS[code][0];
}

/** The error body: `{detail, code}`, or `{ok: false, code, kind, detail, error}` of a lifecycle route, each with its extras. */
export function failureBody(failure: Failure): JsonObject {
  const { detail, code: word, extras, refusals } = failure;
  if (refusals === 'plain') return { detail, code: word, ...extras };
  const envelope = numbered(word, failureStatus(failure), extras['kind']);
  return { ...extras, ok: false, ...envelope, detail, error: word };
}

export function sendFailure(
  res: ServerResponse,
  failure: Failure,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = bodyOf(failureBody(failure), JSON_TYPE);
  sendText(res, failureStatus(failure), body, JSON_TYPE, { ...failure.headers, ...headers });
}

/** What an error step does: whatever is no refusal is logged, and where a part of an answer has gone out, the connection is closed. */
export function endWithFailure(
  res: ServerResponse,
  error: unknown,
  failure: Failure,
  log: { error(message: string, more: object): void },
  headers: Readonly<Record<string, string>> = {},
): void {
  if (!(error instanceof ApiError))
    log.error(`request failed: ${messageOf(error)}`, {
      stack: error instanceof Error ? error.stack : undefined,
    });
  if (res.headersSent) res.destroy();
  else if (!res.destroyed) sendFailure(res, failure, headers);
}

/** An error answer for a connection on which no response object exists (malformed request, refused upgrade). */
export function rawFailure(failure: Failure): string {
  const status = failureStatus(failure);
  const body = `${JSON.stringify(failureBody(failure))}\n`;
  const headers = {
    ...COMMON,
    ...failure.headers,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\n${lines.join('')}\r\n${body}`;
}
