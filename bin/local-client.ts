import type { IncomingMessage } from 'node:http';
import { ApiError, codeOf, errorWord, isErrorCode, messageOf } from '../shared/errors.ts';
import { readEvents } from '../shared/http/event-reader.ts';
import { type NodePlace, openAnswer, requestNode, type Upload } from '../shared/http/node-request.ts';
import type { JsonObject } from '../shared/member.ts';
import { pathsFrom } from '../shared/paths.ts';
import type { OnProgress, Progress } from '../shared/routes/handler.ts';
import { demoDirectories, GROUND } from './places.ts';

const TIMEOUT_MS = 35_000;
const GROUND_SOCKET = pathsFrom(demoDirectories(GROUND)).controlSocket;

/**
 * The address of a node: its `control.sock` on this machine, whose file mode is the credential, or host and key. With `drone` it is
 * that of the ground station which relays to the drone of this id.
 */
export type NodeAddress = (
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly key: string | null }
) & { readonly drone?: string };

/**
 * Calls the node's API.
 * @param signal aborts earlier than the client's own 35 s; its reason is thrown
 * @throws ApiError the node's own error, or E_UPSTREAM_DOWN if no node answers
 */
export async function callNode(
  address: NodeAddress,
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const headers = headersFor(address);
  const request = { method, path: pathTo(address, path), headers, body, timeoutMs: TIMEOUT_MS, signal };
  const answer = await requestNode(placeOf(address), request).catch((error: unknown) => {
    throw failedCall(error, address, signal);
  });
  const parsed = parse(answer.bytes.toString());
  if (answer.status < 400) return parsed;
  throw failure(answer.status, parsed);
}

/**
 * The bytes of an answer as they come.
 * @throws ApiError as callNode
 */
export async function* streamNode(
  address: NodeAddress,
  path: string,
  signal?: AbortSignal,
  extra: Readonly<Record<string, string>> = {},
): AsyncGenerator<Buffer> {
  const headers = { ...headersFor(address), ...extra };
  const request = { method: 'GET', path: pathTo(address, path), headers, timeoutMs: 0, signal };
  const answer: IncomingMessage = await openAnswer(placeOf(address), request).catch((error: unknown) => {
    throw failedCall(error, address, signal);
  });
  const status = answer.statusCode ?? 0;
  if (status >= 400)
    throw failure(status, parse(Buffer.concat((await answer.toArray()) as Buffer[]).toString()));
  try {
    for await (const chunk of answer) yield chunk as Buffer;
  } catch (error) {
    throw failedCall(error, address, signal);
  }
}

export interface Work {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as text/plain. */
  readonly text?: string | undefined;
  /** Sent as it comes. */
  readonly upload?: Upload | undefined;
  readonly onProgress: OnProgress;
}

/**
 * Long work: calls the node's API, and shows the progress until its answer is there.
 * @throws ApiError as callNode
 */
export async function workNode(address: NodeAddress, work: Work): Promise<unknown> {
  const { method, path, body, text, upload, onProgress } = work;
  const headers = { ...headersFor(address), accept: 'text/event-stream' };
  const request = { method, path: pathTo(address, path), headers, body, text, upload, timeoutMs: 0 };
  const answer = await openAnswer(placeOf(address), request).catch((error: unknown) => {
    throw failedCall(error, address, undefined);
  });
  const status = answer.statusCode ?? 0;
  if (answer.headers['content-type'] !== 'text/event-stream') {
    const plain = parse(Buffer.concat((await answer.toArray()) as Buffer[]).toString());
    if (status >= 400) throw failure(status, plain);
    return plain;
  }
  for await (const { event, data } of readEvents(answer as AsyncIterable<Buffer>)) {
    if (event === 'progress') onProgress(data as Progress);
    if (event !== 'result') continue;
    const result = data as { readonly status: number; readonly body: unknown };
    if (result.status >= 400) throw failure(result.status, result.body);
    return result.body;
  }
  throw new ApiError('E_UPSTREAM', 'The node ended the answer before its result.');
}

function failure(status: number, body: unknown): ApiError {
  const refusal = (body ?? {}) as JsonObject;
  const { code: _code, error: _error, detail, ...extras } = refusal;
  const word = errorWord(refusal);
  return new ApiError(
    isErrorCode(word) ? word : 'E_INTERNAL',
    typeof detail === 'string' ? detail : `The node answered ${status}.`,
    extras,
  );
}

/** The path on the node that is asked: with a drone behind it, that of the relay. */
export function pathTo({ drone }: NodeAddress, path: string): string {
  return drone === undefined
    ? path
    : `/api/v1/ground-station/relay-proxy/${encodeURIComponent(drone)}${path}`;
}

function placeOf(address: NodeAddress): NodePlace {
  if ('socketPath' in address) return address;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return { baseUrl: `http://${host}:${address.port}` };
}

function headersFor(address: NodeAddress): Readonly<Record<string, string>> {
  return 'socketPath' in address || address.key === null ? {} : { 'x-svc-key': address.key };
}

function parse(text: string): unknown {
  try {
    return text === '' ? null : (JSON.parse(text) as unknown);
  } catch (error) {
    throw new ApiError('E_UPSTREAM', `The node did not answer in JSON: ${messageOf(error)}.`);
  }
}

/** Node's own AbortError has no reason; the signal has one. */
function failedCall(error: unknown, address: NodeAddress, signal: AbortSignal | undefined): unknown {
  return signal?.aborted === true ? (signal.reason as unknown) : unreachable(error, address);
}

function unreachable(error: unknown, address: NodeAddress): unknown {
  const code = codeOf(error);
  if (!('socketPath' in address)) {
    if (error instanceof ApiError) return error;
    return new ApiError(
      'E_UPSTREAM_DOWN',
      `No node answers at ${address.host}:${address.port}: ${messageOf(error)}.`,
    );
  }
  const { socketPath } = address;
  if (code === 'EACCES') {
    return new ApiError(
      'E_UPSTREAM_DOWN',
      `You have no permission for ${socketPath}. Run this as root or as a member of the group svc.`,
    );
  }
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return new ApiError(
      'E_UPSTREAM_DOWN',
      `No node is running here (${socketPath}). Start it with: npm ${socketPath === GROUND_SOCKET ? 'run start:ground' : 'start'}`,
    );
  }
  return error;
}
