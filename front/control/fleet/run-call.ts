import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { chunksOf } from '../../../shared/async/chunks.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { MAX_REPLY_BYTES } from '../../../shared/fleet/told.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';
import type { CallStatement } from '../../../shared/schemas/fleet-statements.ts';
import type { Answer } from './fleet-calls.ts';

/** Bodies that are text and no JSON: those of WHEP. A call has them as `{media_type, text}`, and so has its answer. */
const TEXTS: ReadonlySet<unknown> = new Set(['application/sdp', 'application/trickle-ice-sdpfrag']);

/** The headers of such an answer that its caller needs (RFC 9725). */
const TOLD = ['location', 'etag', 'link'] as const;

/** Longer than any row of the table takes. */
const TIMEOUT_MS = 120_000;

/** What may stand in the first line of a request: visible ASCII. What it means is the edge's to say. */
const TARGET = /^[\x21-\x7e]+$/;

/**
 * Sends a call to the front, as one request on a connection of its own.
 * @throws ApiError E_BAD_PATH, E_TOO_LARGE, E_TIMEOUT, E_UPSTREAM
 */
export async function runCall(connection: Duplex, { method, path, body }: CallStatement): Promise<Answer> {
  const sent = sentOf(body);
  const headers = {
    host: 'localhost',
    connection: 'close',
    accept: 'application/json',
    ...(sent === null
      ? {}
      : { 'content-type': sent.type, 'content-length': String(Buffer.byteLength(sent.text)) }),
    ...(sent?.ifMatch === undefined ? {} : { 'if-match': sent.ifMatch }),
  };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    if (!TARGET.test(path)) throw new ApiError('E_BAD_PATH', 'the path has a character that must be encoded');
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request({ method, path, headers, createConnection: () => connection, signal }, resolve);
      asked.once('error', reject);
      asked.end(sent?.text);
    });
    const bytes = await collect(answer);
    return { status: answer.statusCode ?? 500, body: valueOf(bytes, answer.headers) };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (signal.aborted) throw new ApiError('E_TIMEOUT');
    throw new ApiError('E_UPSTREAM', `The call could not be carried out: ${messageOf(error)}.`);
  } finally {
    connection.destroy();
  }
}

interface Sent {
  readonly type: string;
  readonly text: string;
  readonly ifMatch?: string;
}

/**
 * The body as a request has it. `if_match` beside the text of WHEP stands for the header.
 * @throws ApiError E_INVALID_VALUE
 */
function sentOf(body: unknown): Sent | null {
  if (body === undefined) return null;
  const type = memberOf(body, 'media_type');
  const text = memberOf(body, 'text');
  if (typeof type !== 'string' || !TEXTS.has(type) || typeof text !== 'string')
    return { type: 'application/json', text: JSON.stringify(body) };
  const ifMatch = memberOf(body, 'if_match');
  if (ifMatch === undefined) return { type, text };
  if (typeof ifMatch !== 'string' || !IF_MATCH.test(ifMatch))
    throw new ApiError('E_INVALID_VALUE', 'if_match must be * or an entity tag.');
  return { type, text, ifMatch };
}

const IF_MATCH = /^(?:\*|"[!#-~]{0,64}")$/;

async function collect(answer: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of chunksOf(answer)) {
    length += part.length;
    if (length > MAX_REPLY_BYTES)
      throw new ApiError(
        'E_TOO_LARGE',
        `The answer is longer than ${MAX_REPLY_BYTES} bytes. Ask for less of it.`,
        {
          answered: answer.statusCode,
        },
      );
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The time of a picture stands in a header, which does not travel. */
function valueOf(bytes: Buffer, headers: IncomingHttpHeaders): unknown {
  const type = headers['content-type'] ?? '';
  if (bytes.length === 0) return null;
  if (/^application\/(?:[a-z.+-]+\+)?json\b/.test(type)) return parseJson(bytes.toString('utf8'));
  if (type.startsWith('text/')) return { media_type: type, text: bytes.toString('utf8') };
  if (TEXTS.has(type)) {
    const told = TOLD.flatMap((name) =>
      headers[name] === undefined ? [] : [[name, headers[name]] as const],
    );
    return { media_type: type, text: bytes.toString('utf8'), ...Object.fromEntries(told) };
  }
  const capturedAt = headers['x-captured-at'];
  return {
    media_type: type,
    base64: bytes.toString('base64'),
    ...(capturedAt === undefined ? {} : { captured_at: capturedAt }),
  };
}
