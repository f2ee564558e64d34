import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readOwn } from '../../../shared/files/private-file.ts';
import { putAside } from '../../../shared/files/put-aside.ts';
import { asRecord, isObject, parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { STEP_IDS, type StepId } from '../../../shared/schemas/setup.ts';

export type Mark = 'complete' | 'skipped';

/** What a person has said. */
export interface Marks {
  /** RFC 3339; null: not finished. */
  readonly finished_at: string | null;
  readonly steps: Readonly<Partial<Record<StepId, Mark>>>;
}

const NONE: Marks = { finished_at: null, steps: {} };
const OTHERS_WRITE = 0o022;
const MAX_BYTES = 16 * 1024;

/** The marks in `setup.json`: `{"version":1, "finished_at":…, "steps":{"pin":"skipped"}}`. */
export class SetupMarks {
  readonly #file: string;
  readonly #writes = new Serial();
  #marks: Marks;

  private constructor(file: string, marks: Marks) {
    this.#file = file;
    this.#marks = marks;
  }

  /** A file that cannot be used is put aside, as `setup.json.broken`, and nothing is marked. */
  static async open(file: string, log: Logger): Promise<SetupMarks> {
    try {
      const text = await readOwn(file, OTHERS_WRITE, MAX_BYTES);
      return new SetupMarks(file, text === null ? NONE : parse(text));
    } catch (error) {
      log.error(`setup: ${await putAside(file, error)} The set-up starts over.`);
      return new SetupMarks(file, NONE);
    }
  }

  get now(): Marks {
    return this.#marks;
  }

  /** @throws ApiError E_STORE; nothing is changed then */
  async change(to: (marks: Marks) => Marks): Promise<void> {
    await this.#writes.run(async () => {
      const next = to(this.#marks);
      await writeAtomic(this.#file, `${JSON.stringify({ version: 1, ...next })}\n`, 0o640).catch(
        (error: unknown) => {
          throw new ApiError('E_STORE', `The state of the set-up could not be stored: ${messageOf(error)}.`);
        },
      );
      this.#marks = next;
    });
  }

  async reset(): Promise<void> {
    await this.change(() => NONE);
  }
}

/** @throws Error for what is not a file of version 1 */
function parse(text: string): Marks {
  const { version, finished_at: finished, steps } = asRecord(parseJson(text));
  if (version !== 1 || !isObject(steps)) throw new Error('it is not of version 1');
  if (finished !== null && typeof finished !== 'string') throw new Error('finished_at is not valid');
  const known: Partial<Record<StepId, Mark>> = {};
  for (const id of STEP_IDS) {
    const mark = steps[id];
    if (mark === 'complete' || mark === 'skipped') known[id] = mark;
  }
  return { finished_at: finished, steps: known };
}
