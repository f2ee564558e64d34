import { messageOf } from '../../shared/errors.ts';

/** A check found something; the message is a sentence. */
export class Failed extends Error {}

/** A check that cannot be made here; the message says why. It counts neither as passed nor as failed. */
export class NotRun extends Error {}

export interface Outcome {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'not run';
  /** Why, unless it passed. */
  readonly why: string | null;
  readonly ms: number;
}

interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly not_run: number;
}

/** The checks, one after the other, each a line of TAP (version 14) as soon as it is over. */
export class Report {
  readonly #print: (line: string) => void;
  readonly #outcomes: Outcome[] = [];

  constructor(print: (line: string) => void) {
    this.#print = print;
    print('TAP version 14');
  }

  get outcomes(): readonly Outcome[] {
    return this.#outcomes;
  }

  get summary(): Summary {
    const count = (wanted: Outcome['result']): number =>
      this.#outcomes.filter(({ result }) => result === wanted).length;
    return { passed: count('passed'), failed: count('failed'), not_run: count('not run') };
  }

  /** @returns whether it passed; whatever it throws is a failure */
  async check(name: string, look: () => Promise<void> | void): Promise<boolean> {
    const from = performance.now();
    let result: Outcome['result'] = 'passed';
    let why: string | null = null;
    try {
      await look();
    } catch (error) {
      result = error instanceof NotRun ? 'not run' : 'failed';
      why = oneLine(messageOf(error));
    }
    this.#outcomes.push({ name, result, why, ms: Math.round(performance.now() - from) });
    const head = `${result === 'failed' ? 'not ok' : 'ok'} ${this.#outcomes.length} - ${oneLine(name).replaceAll('#', '\\#')}`;
    this.#print(result === 'not run' ? `${head} # SKIP ${why}` : head);
    if (result === 'failed') this.#print(`  ---\n  message: ${JSON.stringify(why)}\n  ...`);
    return result === 'passed';
  }

  /** The plan and the numbers. */
  end(): Summary {
    const { passed, failed, not_run } = this.summary;
    this.#print(`1..${this.#outcomes.length}`);
    this.#print(`# passed ${passed}, failed ${failed}, not run ${not_run}`);
    return this.summary;
  }
}

/** What a node says must not control a terminal, nor look like a line of ours. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 500);
}
