import { request } from 'node:http';
import { ApiError, isErrorCode, messageOf } from '../shared/errors.ts';

export interface LocalAnswer {
  readonly status: number;
  readonly body: unknown;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Calls the node's API over `control.sock`, whose file mode is the credential.
 * @throws ApiError the node's own error, or E_UPSTREAM_DOWN when no node answers there
 */
export async function callLocal(
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const answer = await exchange(socketPath, method, path, body);
  if (answer.status < 400) return answer.body;
  const { code, detail, ...extras } = (answer.body ?? {}) as Readonly<Record<string, unknown>>;
  throw new ApiError(
    isErrorCode(code) ? code : 'E_INTERNAL',
    typeof detail === 'string' ? detail : `The node answered ${answer.status}.`,
    extras,
  );
}

async function exchange(
  socketPath: string,
  method: string,
  path: string,
  body: unknown,
): Promise<LocalAnswer> {
  const payload = body === undefined ? null : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const req = request({
      socketPath,
      method,
      path,
      timeout: TIMEOUT_MS,
      headers: {
        host: 'localhost',
        ...(payload === null
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
      },
    });
    req.on('timeout', () =>
      req.destroy(new ApiError('E_TIMEOUT', `The node did not answer within ${TIMEOUT_MS} ms.`)),
    );
    req.on('error', (error) => reject(unreachable(error, socketPath)));
    req.on('response', (res) => {
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
          resolve({ status: res.statusCode ?? 0, body: text === '' ? null : JSON.parse(text) });
        } catch (error) {
          reject(new ApiError('E_UPSTREAM', `The node did not answer in JSON: ${messageOf(error)}.`));
        }
      });
    });
    req.end(payload ?? undefined);
  });
}

function unreachable(error: unknown, socketPath: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EACCES') {
    return new ApiError(
      'E_UPSTREAM_DOWN',
      `${socketPath} is not yours to use. Run this as root or as a member of the group svc.`,
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
