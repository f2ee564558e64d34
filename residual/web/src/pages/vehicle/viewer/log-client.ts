import { language } from '../../../language/language.ts';
import { trustScript } from '../../../parts/script-urls.ts';
// oxlint-disable-next-line import/default -- the build makes the address, out of the module that is named
import workerUrl from './log-worker.ts?worker&url';
import type { LogQuestions, WorkerAnswer, WorkerQuestion } from './protocol.ts';
import type { LogSummary } from './read/summary.ts';
import { viewerWords } from './viewer-words.ts';

/** A log that cannot be shown; its message is for the person. */
export class LogFailure extends Error {}

interface PendingAnswer {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: LogFailure) => void;
}

type Ask<Kind extends keyof LogQuestions> = LogQuestions[Kind]['ask'];
type Answer<Kind extends keyof LogQuestions> = LogQuestions[Kind]['answer'];

/** A log in a worker of its own, which ends with `close`. */
export class LogClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PendingAnswer>();
  #asked = 0;

  /** @param onProgress bytes that were read, of those of the file */
  constructor(onProgress: (done: number) => void) {
    this.#worker = new Worker(trustScript(workerUrl), { type: 'module', name: language });
    this.#worker.addEventListener('message', ({ data }: MessageEvent<WorkerAnswer>) => {
      if ('done' in data) onProgress(data.done);
      else this.#onAnswer(data);
    });
    this.#worker.addEventListener('error', () => this.close());
  }

  /** @throws LogFailure */
  async open(file: Blob): Promise<LogSummary> {
    return this.ask('open', { file });
  }

  /** @throws LogFailure */
  async ask<Kind extends keyof LogQuestions>(kind: Kind, ask: Ask<Kind>): Promise<Answer<Kind>> {
    const id = ++this.#asked;
    const answer = new Promise<Answer<Kind>>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#worker.postMessage({ id, kind, ...ask } satisfies Pick<WorkerQuestion, 'id' | 'kind'>, []);
    return answer;
  }

  /** Whoever still waits hears that it has stopped. */
  close(): void {
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(new LogFailure(viewerWords.stopped));
    this.#waiting.clear();
  }

  #onAnswer(told: Exclude<WorkerAnswer, { readonly done: number }>): void {
    const waiting = this.#waiting.get(told.id);
    this.#waiting.delete(told.id);
    if ('failure' in told) waiting?.reject(new LogFailure(told.failure));
    else waiting?.resolve(told.answer);
  }
}
