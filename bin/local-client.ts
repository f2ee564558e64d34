import { type IncomingMessage, request } from 'node:http';
import { ApiError, isErrorCode, messageOf } from '../shared/errors.ts';

export interface LocalAnswer {
  readonly status: number;
  readonly body: unknown;
}

const TIMEOUT_MS = 35_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** The address of a node: its `control.sock` on this machine, whose file mode is the credential, or host and key. */
export type NodeAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number; readonly key: string | null };

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
  const answer = await exchange(address, method, path, body, signal);
  if (answer.status < 400) return answer.body;
  throw failure(answer);
}

/**
 * The bytes of an answer as they come.
 * @throws ApiError as callNode
 */
export async function* streamNode(
  address: NodeAddress,
  path: string,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const res = await new Promise<IncomingMessage>((resolve, reject) => {
    const req = request({
      ...target(address),
      method: 'GET',
      path,
      headers: headersFor(address),
      ...(signal === undefined ? {} : { signal }),
    });
    req.on('error', (error) => reject(failedCall(error, address, signal)));
    req.on('response', resolve);
    req.end();
  });
  if ((res.statusCode ?? 0) >= 400) {
    const chunks: Buffer[] = [];
    for await (const chunk of res) chunks.push(chunk as Buffer);
    throw failure({ status: res.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString()) });
  }
  try {
    for await (const chunk of res) yield chunk as Buffer;
  } catch (error) {
    throw failedCall(error, address, signal);
  }
}

function failure({ status, body }: LocalAnswer): ApiError {
  const { code, detail, ...extras } = (body ?? {}) as Readonly<Record<string, unknown>>;
  return new ApiError(
    isErrorCode(code) ? code : 'E_INTERNAL',
    typeof detail === 'string' ? detail : `The node answered ${status}.`,
    extras,
  );
}

function target(address: NodeAddress): { socketPath: string } | { host: string; port: number } {
  return 'socketPath' in address
    ? { socketPath: address.socketPath }
    : { host: address.host, port: address.port };
}

function headersFor(address: NodeAddress): Readonly<Record<string, string>> {
  if ('socketPath' in address) return { host: 'localhost' };
  return address.key === null ? {} : { 'x-svc-key': address.key };
}

function parse(text: string): unknown {
  try {
    return text === '' ? null : (JSON.parse(text) as unknown);
  } catch (error) {
    throw new ApiError('E_UPSTREAM', `The node did not answer in JSON: ${messageOf(error)}.`);
  }
}

async function exchange(
  address: NodeAddress,
  method: string,
  path: string,
  body: unknown,
  signal: AbortSignal | undefined,
): Promise<LocalAnswer> {
  const payload = body === undefined ? null : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const req = request({
      ...target(address),
      method,
      path,
      ...(signal === undefined ? {} : { signal }),
      timeout: TIMEOUT_MS,
      headers: {
        ...headersFor(address),
        ...(payload === null
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
      },
    });
    req.on('timeout', () =>
      req.destroy(new ApiError('E_TIMEOUT', `The node did not answer within ${TIMEOUT_MS} ms.`)),
    );
    req.on('error', (error) => reject(failedCall(error, address, signal)));
    req.on('response', (res) => {
      // The node died, or the request was aborted, in the middle of the answer.
      res.on('error', (error) => reject(failedCall(error, address, signal)));
      const chunks: Buffer[] = [];
      let size = 0;
      res.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BYTES)
          req.destroy(new ApiError('E_UPSTREAM', `The answer is larger than ${MAX_BYTES} bytes.`));
        chunks.push(chunk);
      });
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        try {
          resolve({ status: res.statusCode ?? 0, body: parse(text) });
        } catch (error) {
          reject(error);
        }
      });
    });
    req.end(payload ?? undefined);
  });
}

/** Node's own AbortError has no reason; the signal has one. */
function failedCall(error: unknown, address: NodeAddress, signal: AbortSignal | undefined): unknown {
  return signal?.aborted === true ? (signal.reason as unknown) : unreachable(error, address);
}

function unreachable(error: unknown, address: NodeAddress): unknown {
  const code = (error as NodeJS.ErrnoException).code;
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
      `No node is running here (${socketPath}). Start it with: npm start`,
    );
  }
  return error;
}
