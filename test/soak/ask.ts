import { type Agent, request } from 'node:http';
import { KEY } from '../support/edge.ts';

/** Without an answer for this long a request hangs; the node's own time-outs are all shorter. */
export const HANG_MS = 30_000;

export interface Asked {
  /** 0: the connection failed or was cut off; null: no answer in time. */
  readonly status: number | null;
  readonly body: Buffer;
}

export interface Question {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A connection that is kept; else each request has its own. */
  readonly agent?: Agent;
}

const KEYED = { 'x-svc-key': KEY } as const;

/** One request with the pairing key, or with the headers given instead. Never throws. */
export async function ask(
  url: string,
  { method = 'GET', body, headers = KEYED, agent }: Question,
): Promise<Asked> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let late = false;
    const end = (status: number): void => {
      clearTimeout(timer);
      resolve({ status: late ? null : status, body: Buffer.concat(chunks) });
    };
    const call = request(
      url,
      {
        method,
        agent: agent ?? false,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      },
      (answer) => {
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => end(answer.statusCode ?? 0));
        answer.on('error', () => end(0)); // half an answer
      },
    );
    const timer = setTimeout(() => {
      late = true;
      call.destroy(new Error('no answer'));
    }, HANG_MS);
    call.on('error', () => end(0));
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The members of an answer in JSON; none of anything else. */
export function membersOf({ body }: Asked): Readonly<Record<string, unknown>> {
  try {
    const found: unknown = JSON.parse(body.toString());
    return typeof found === 'object' && found !== null ? (found as Readonly<Record<string, unknown>>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
