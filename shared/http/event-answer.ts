import type { IncomingMessage, ServerResponse } from 'node:http';
import { type OnProgress, type Progress, Reply } from '../routes/handler.ts';
import { type Failure, failureBody, failureStatus } from './answer.ts';

/** A person sees no more than this, and a slow client must not pay for each of 700 items. */
const EVERY_MS = 100;
/** Kept by proxies and read by clients as a sign of life while nothing moves. */
const COMMENT_MS = 10_000;

/** Whether the client asked for the progress of long work, instead of an answer at its end. */
export function wantsEvents({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return (headers.accept ?? '')
    .split(',')
    .some((type) => type.split(';', 1)[0]?.trim().toLowerCase() === 'text/event-stream');
}

/**
 * The answer to long work as Server-Sent Events: `progress {done, total, text}` and at the end one `result {status, body}`,
 * where status and body are what the plain answer would have. The status of the HTTP answer itself is 200. A client that goes
 * away cancels nothing.
 */
export class EventAnswer {
  readonly #res: ServerResponse;
  readonly #now: () => number;
  readonly #comments: NodeJS.Timeout;
  #sentAt = -Infinity;

  /** @param now monotonic, ms */
  constructor(res: ServerResponse, now: () => number) {
    this.#res = res;
    this.#now = now;
    res.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    res.flushHeaders();
    this.#comments = setInterval(() => this.#write(': working\n\n'), COMMENT_MS);
    res.once('close', () => clearInterval(this.#comments));
  }

  /** Sends it, unless one went out just now or the client does not read: the next one says more. */
  readonly progress: OnProgress = (progress: Progress) => {
    const now = this.#now();
    const last = progress.total !== null && progress.done >= progress.total;
    if (!last && now - this.#sentAt < EVERY_MS) return;
    this.#sentAt = now;
    this.#write(`event: progress\ndata: ${JSON.stringify(progress)}\n\n`);
  };

  result(value: unknown): void {
    if (value instanceof Reply) this.#end(value.status, value.body);
    else this.#end(200, value ?? null);
  }

  failure(failure: Failure): void {
    this.#end(failureStatus(failure), failureBody(failure));
  }

  #end(status: number, body: unknown): void {
    clearInterval(this.#comments);
    if (!this.#res.destroyed) this.#res.end(`event: result\ndata: ${JSON.stringify({ status, body })}\n\n`);
  }

  #write(text: string): void {
    if (!this.#res.destroyed && !this.#res.writableEnded && !this.#res.writableNeedDrain)
      this.#res.write(text);
  }
}
