import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';

/** Including the time that a slow client takes. */
const WHOLE_MS = 600_000;
const FIRST_MS = 25_000;
const MAX_WORDS = 2000;

interface SupportBundleDeps {
  /** The program that writes the archive to its standard output, with its arguments. */
  readonly command: readonly [program: string, ...args: string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long all of it may take; 10 min unless given. */
  readonly wholeMs?: number;
  readonly log: Logger;
}

/**
 * Makes support bundles, one at a time. A process of its own does it, of low priority: masking a day of logs would
 * hold up whoever flies. The archive comes while it is made, and nothing is stored: what is killed leaves nothing.
 */
export class SupportBundle {
  readonly #deps: SupportBundleDeps;
  #running = false;

  constructor(deps: SupportBundleDeps) {
    this.#deps = deps;
  }

  /**
   * The archive, once its first bytes are there. Destroying it ends the work.
   * @throws ApiError E_BUSY, E_UPSTREAM with the program's last words, E_TIMEOUT
   */
  async open(): Promise<Readable> {
    if (this.#running) throw new ApiError('E_BUSY', 'Another support bundle is being made.');
    this.#running = true;
    const { command, env, wholeMs = WHOLE_MS, log } = this.#deps;
    const [program, ...args] = command;
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const end = endOf(child).finally(() => {
      this.#running = false;
      clearTimeout(late);
    });
    let words = '';
    child.stderr.on('data', (chunk: Buffer) => {
      words = `${words}${chunk.toString()}`.slice(-MAX_WORDS);
    });
    lowerPriority(child.pid, log);
    const archive = new PassThrough({
      // The end of the program's output is not yet the end of an archive.
      flush(done) {
        end.then(
          (why) => done(why === null ? null : new ApiError('E_UPSTREAM', `${why} ${words}`.trim())),
          done,
        );
      },
    });
    const late = setTimeout(() => {
      archive.destroy(new ApiError('E_TIMEOUT', `The bundle took longer than ${wholeMs} ms.`));
    }, wholeMs);
    // Whoever reads the archive is told of its error too.
    pipeline(child.stdout, archive, () => child.kill('SIGKILL'));
    try {
      await once(archive, 'readable', { signal: AbortSignal.timeout(FIRST_MS) });
    } catch (error) {
      archive.destroy();
      throw error instanceof ApiError
        ? error
        : new ApiError('E_TIMEOUT', 'The bundle did not begin in time.');
    }
    return archive;
  }
}

/** How it ended, in a sentence, if not with exit code 0. */
async function endOf(child: ChildProcess): Promise<string | null> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`The program did not start: ${messageOf(error)}.`));
    child.once('exit', (code, signal) => {
      resolve(code === 0 ? null : `The program ended with ${signal ?? code}.`);
    });
  });
}

function lowerPriority(pid: number | undefined, log: Logger): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch (error) {
    log.debug(`support bundle: ${messageOf(error)}`); // it has ended already
  }
}
