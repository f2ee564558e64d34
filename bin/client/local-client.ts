import type { IncomingMessage } from 'node:http';
import { ApiError, codeOf, errorWord, isErrorCode, messageOf } from '../../shared/errors.ts';
import { readEvents } from '../../shared/http/event-reader.ts';
import type { KnownNodes } from '../../shared/http/known-nodes.ts';
import {
  type NodePlace,
  type NodeRequest,
  openAnswer,
  requestNode,
  type Upload,
} from '../../shared/http/node-request.ts';
import { placeOfNode, type ReachedNode, tlsProblem } from '../../shared/http/reach-node.ts';
import { recordOf } from '../../shared/member.ts';
import { pathsFrom } from '../../shared/paths.ts';
import type { OnProgress, Progress } from '../../shared/routes/handler.ts';
import { filledPath, type Query, queryText } from '../../shared/routes/target.ts';
import type { Answer, Route } from '../../shared/routes/typed-row.ts';
import { demoDirectories, GROUND } from '../places.ts';

const TIMEOUT_MS = 35_000;
const GROUND_SOCKET = pathsFrom(demoDirectories(GROUND)).controlSocket;

/**
 * The address of a node: its `control.sock` on this machine, whose file mode is the credential, or host and key. With `drone` it is
 * that of the ground station which relays to the drone of this id.
 */
export type NodeAddress = (
  | { readonly socketPath: string }
  | (ReachedNode & { readonly key: string | null; readonly known?: KnownNodes })
) & { readonly drone?: string };

/** What a request says besides its route; NodeCommand checks it against the row. */
export interface Ask {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as text/plain instead. */
  readonly text?: string | undefined;
  /** Sent as it comes instead. @param show told how much is sent */
  readonly upload?: ((show: OnProgress) => Upload) | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** HEAD for GET: only whether it would be answered. */
  readonly isHead?: boolean;
  /** Aborts earlier than the client's own 35 s; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls the node's API.
 * @param route of a row, which says what the answer is
 * @throws ApiError the node's own error, or E_UPSTREAM_DOWN if no node answers
 */
export async function callNode<R extends Route>(
  address: NodeAddress,
  route: R,
  ask: Ask = {},
): Promise<Answer<R>> {
  const request = requestOf(address, route, ask, () => undefined);
  const answer = await requestNode(placeOf(address), { ...request, timeoutMs: TIMEOUT_MS }).catch(
    (error: unknown) => {
      throw failedCall(error, address, ask.signal);
    },
  );
  const parsed = parse(answer.bytes.toString());
  if (answer.status < 400) return parsed as Answer<R>;
  throw failure(answer.status, parsed);
}

/**
 * The bytes of an answer as they come.
 * @throws ApiError as callNode
 */
export async function* streamNode(address: NodeAddress, route: Route, ask: Ask = {}): AsyncGenerator<Buffer> {
  const answer = await open(
    address,
    requestOf(address, route, ask, () => undefined),
  );
  const status = answer.statusCode ?? 0;
  if (status >= 400) throw failure(status, parse(await textOf(answer)));
  try {
    for await (const chunk of answer) yield chunk;
  } catch (error) {
    throw failedCall(error, address, ask.signal);
  }
}

/**
 * Long work: calls the node's API, and shows the progress until its answer is there.
 * @throws ApiError as callNode
 */
export async function workNode<R extends Route>(
  address: NodeAddress,
  route: R,
  ask: Ask,
  onProgress: OnProgress,
): Promise<Answer<R>> {
  const headers = { ...ask.headers, accept: 'text/event-stream' };
  const answer = await open(address, requestOf(address, route, { ...ask, headers }, onProgress));
  const { status, body } = await resultOf(answer, onProgress);
  if (status >= 400) throw failure(status, body);
  return body as Answer<R>;
}

async function open(address: NodeAddress, request: Omit<NodeRequest, 'timeoutMs'>): Promise<IncomingMessage> {
  return openAnswer(placeOf(address), { ...request, timeoutMs: 0 }).catch((error: unknown) => {
    throw failedCall(error, address, request.signal);
  });
}

/** Of an answer with events its last one; of a plain one itself. */
async function resultOf(
  answer: IncomingMessage,
  onProgress: OnProgress,
): Promise<{ readonly status: number; readonly body: unknown }> {
  if (answer.headers['content-type'] !== 'text/event-stream')
    return { status: answer.statusCode ?? 0, body: parse(await textOf(answer)) };
  for await (const { event, data } of readEvents(answer)) {
    if (event === 'progress') onProgress(data as Progress);
    if (event === 'result') return data as { readonly status: number; readonly body: unknown };
  }
  throw new ApiError('E_UPSTREAM', 'The node ended the answer before its result.');
}

async function textOf(answer: IncomingMessage): Promise<string> {
  return Buffer.concat(await answer.toArray()).toString();
}

function requestOf(
  address: NodeAddress,
  route: Route,
  { params = {}, query = {}, headers, upload, isHead = false, ...ask }: Ask,
  onProgress: OnProgress,
): Omit<NodeRequest, 'timeoutMs'> {
  const [method = '', path = ''] = route.split(' ');
  const target = `${filledPath(path, params)}${queryText(query)}`;
  return {
    ...ask,
    method: isHead ? 'HEAD' : method,
    path: pathTo(address, target),
    headers: { ...headersFor(address), ...headers },
    upload: upload?.(onProgress),
  };
}

function failure(status: number, body: unknown): ApiError {
  const refusal = recordOf(body);
  const { code: _code, error: _error, detail, ...extras } = refusal;
  const word = errorWord(refusal);
  return new ApiError(
    isErrorCode(word) ? word : 'E_INTERNAL',
    typeof detail === 'string' ? detail : `The node answered ${status}.`,
    extras,
  );
}

/** Asks one node for rows. */
export type Asker = <R extends Route>(route: R, ask?: Pick<Ask, 'isHead'>) => Promise<Answer<R>>;

/** The path on the node that is asked: with a drone behind it, that of the relay. */
export function pathTo({ drone }: NodeAddress, path: string): string {
  return drone === undefined
    ? path
    : `/api/v1/ground-station/relay-proxy/${encodeURIComponent(drone)}${path}`;
}

function placeOf(address: NodeAddress): NodePlace {
  return 'socketPath' in address ? address : placeOfNode(address);
}

function headersFor(address: NodeAddress): Readonly<Record<string, string>> {
  return 'socketPath' in address || address.key === null ? {} : { 'x-svc-key': address.key };
}

function parse(json: string): unknown {
  try {
    return json === '' ? null : JSON.parse(json);
  } catch (error) {
    throw new ApiError('E_UPSTREAM', `The node did not answer in JSON: ${messageOf(error)}.`);
  }
}

/** Node's own AbortError has no reason; the signal has one. */
function failedCall(error: unknown, address: NodeAddress, signal: AbortSignal | undefined): unknown {
  return signal?.aborted === true ? signal.reason : unreachable(error, address);
}

function unreachable(error: unknown, address: NodeAddress): unknown {
  const code = codeOf(error);
  if (!('socketPath' in address)) {
    if (error instanceof ApiError) return error;
    return tlsProblem(error, address, address.known ?? null) ?? noAnswer(error, address);
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
  // As it ends or restarts, by the moment: before the request is written, or before the answer is.
  if (code === 'EPIPE' || code === 'ECONNRESET') {
    return new ApiError(
      'E_UPSTREAM_DOWN',
      `The node closed the connection before it answered (${code}): it ends or restarts. Whether it did what was asked is not known; see svc status.`,
    );
  }
  return error;
}

/** Nobody answers there. */
export function noAnswer(error: unknown, { host, port, tls }: ReachedNode): ApiError {
  const known = ` It is known here by HTTPS, and is not asked without. If it serves none any more: svc known-nodes forget ${host}`;
  return new ApiError(
    'E_UPSTREAM_DOWN',
    `No node answers at ${host}:${port}${tls === undefined ? '' : ' by HTTPS'}: ${messageOf(error)}.${tls?.ca === undefined ? '' : known}`,
  );
}
