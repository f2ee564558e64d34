import { extname, join } from 'node:path';
import { OwnThread } from '../../../shared/async/own-thread.ts';
import { Retry } from '../../../shared/async/retry.ts';
import type { AuditAnswer, AuditFileOptions, AuditWrite, AuditWriter } from './audit-chains.ts';

const FILE = join(import.meta.dirname, `audit-writer-thread${extname(import.meta.filename)}`);
/** Records are small, and read again only when one file is opened. */
const HEAP = { oldMb: 64, youngMb: 1 };

export interface ThreadData {
  readonly nowMs: number;
  readonly options: AuditFileOptions;
}

export type ToThread = AuditWrite | { readonly probe: number } | 'stop';

/** The files of the audit in a thread of their own. */
export class AuditThread implements AuditWriter {
  readonly #options: AuditFileOptions;
  readonly #now: () => number;
  readonly #retry = new Retry(() => this.#begin(), { firstMs: 1000, capMs: 30_000 });
  /** What the thread has not answered. */
  readonly #asked = new Set<number>();
  #answer: (answer: AuditAnswer) => void = () => undefined;
  #thread: OwnThread<ToThread, AuditAnswer> | null = null;

  /** @param now wall clock, ms */
  constructor(options: AuditFileOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  start(_nowMs: number, answer: (answer: AuditAnswer) => void): void {
    this.#answer = answer;
    this.#retry.start();
  }

  write(write: AuditWrite): void {
    this.#ask(write.id, write);
  }

  probe(id: number): void {
    this.#ask(id, { probe: id });
  }

  async stop(): Promise<void> {
    this.#retry.stop();
    await this.#thread?.stop('stop');
    this.#thread = null;
  }

  #ask(id: number, message: ToThread): void {
    if (this.#thread === null) {
      this.#answer({ kind: 'failed', id, problem: 'its thread has ended, and is started again' });
      return;
    }
    this.#asked.add(id);
    this.#thread.post(message);
  }

  #begin(): void {
    const data: ThreadData = { nowMs: this.#now(), options: this.#options };
    this.#thread = new OwnThread({
      file: FILE,
      data,
      heap: HEAP,
      onMessage: (answer) => this.#onAnswer(answer),
      onEnd: (problem) => this.#onEnd(problem),
    });
  }

  #onAnswer(answer: AuditAnswer): void {
    if ('id' in answer) this.#asked.delete(answer.id);
    if (answer.kind === 'started') this.#retry.worked();
    this.#answer(answer);
  }

  #onEnd(problem: string): void {
    this.#thread = null;
    for (const id of this.#asked) this.#answer({ kind: 'failed', id, problem });
    this.#asked.clear();
    this.#retry.again();
  }
}
