import { constants } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { within } from '../../../shared/async/within.ts';
import { messageOf } from '../../../shared/errors.ts';
import { readPrivateSync } from '../../../shared/files/private-file.ts';
import type { Logger } from '../../../shared/process/logger.ts';

const MAX_BYTES = 1024 * 1024;
/** How long a refusal waits until it is on the disk that its credential has ended. */
const WAIT_MS = 1000;
/** Beyond this, the half that ended first becomes one time for each kind. */
const MAX_ENDED = 4096;
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
const LINE = /^(token|session) (\S{1,80}) (\d{1,16})$/;
const THROUGH = '*';

/** A credential with an end. */
export interface Ending {
  readonly kind: 'token' | 'session';
  /** A token's id, or the hash of a session; no secret. */
  readonly id: string;
  /** Wall clock, ms. */
  readonly expiresAt: number;
}

/**
 * Which credentials were once seen expired, so that a clock that is set back, a restart or an old copy of their own store brings
 * none of them back. A file of lines `kind id expiry` (ms since 1970); with `*` as id, whatever ended until then. It is apart from
 * the stores, is only appended to, and no return to an older version brings it back.
 */
export class EndedCredentials {
  readonly #file: string;
  readonly #log: Logger;
  /** Null until the file was read. */
  #ended: Map<string, Ending> | null = null;
  readonly #through = { token: 0, session: 0 };
  readonly #unwritten = new Map<string, Ending>();
  #writing: Promise<void> | null = null;
  #problem: string | null = null;

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** Whether it was once seen expired. True also while the file cannot be read: then nobody knows. */
  has({ kind, id, expiresAt }: Ending): boolean {
    const ended = this.#load();
    return ended === null || expiresAt <= this.#through[kind] || ended.has(`${kind} ${id}`);
  }

  /**
   * Whether it has ended, now or before. That it has counts in this process at once, and is on its way to the disk (`written`); if it
   * cannot be written, which is logged, it is tried again the next time.
   */
  isOver(ending: Ending, isPast: boolean): boolean {
    if (isPast) this.note([ending]);
    return isPast || this.has(ending);
  }

  /** Notes that these have ended, with one write. It does not wait for the disk: the edge decides synchronously. */
  note(endings: readonly Ending[]): void {
    const ended = this.#load();
    if (ended === null) return;
    for (const ending of endings) {
      if (this.has(ending)) continue;
      ended.set(`${ending.kind} ${ending.id}`, ending);
      this.#unwritten.set(`${ending.kind} ${ending.id}`, ending);
    }
    if (this.#unwritten.size === 0 || this.#writing !== null) return;
    this.#writing = this.#write(ended).catch((error: unknown) =>
      this.#fail(`cannot be written: ${messageOf(error)}`),
    );
  }

  /**
   * Resolves when what has ended is on the disk, so that whoever is told of it hears it again after a power cut; also when that fails,
   * which is logged, and after a second. Null: there is nothing to wait for.
   */
  written(): Promise<void> | null {
    if (this.#writing === null) return null;
    return within(this.#writing, WAIT_MS, () => new Error('the disk stands still')).catch((error: unknown) =>
      this.#fail(`is not written yet: ${messageOf(error)}`),
    );
  }

  /** Until nothing is left that was noted meanwhile. */
  async #write(ended: Map<string, Ending>): Promise<void> {
    try {
      while (this.#unwritten.size > 0) {
        const endings = [...this.#unwritten];
        if (ended.size > MAX_ENDED) await this.#condense(ended);
        else await this.#append(endings.map(([, ending]) => ending));
        for (const [key] of endings) this.#unwritten.delete(key);
      }
    } finally {
      this.#writing = null;
    }
  }

  #load(): Map<string, Ending> | null {
    if (this.#ended !== null) return this.#ended;
    let text: string;
    try {
      text = readPrivateSync(this.#file, MAX_BYTES) ?? '';
    } catch (error) {
      this.#fail(`cannot be read, so that no token or session counts: ${messageOf(error)}`);
      return null;
    }
    const ended = new Map<string, Ending>();
    for (const line of text.split('\n')) {
      const [, kind, id, time] = LINE.exec(line) ?? []; // half a line after a power cut is none
      if ((kind !== 'token' && kind !== 'session') || id === undefined) continue;
      const expiresAt = Number(time);
      if (id === THROUGH) this.#through[kind] = Math.max(this.#through[kind], expiresAt);
      else ended.set(`${kind} ${id}`, { kind, id, expiresAt });
    }
    this.#ended = ended;
    this.#problem = null;
    return ended;
  }

  /** Each line begins with its line break, so that half a line before it stays alone. */
  async #append(endings: readonly Ending[]): Promise<void> {
    await mkdir(dirname(this.#file), { recursive: true });
    await write(this.#file, constants.O_APPEND, endings.map(lineOf).join(''));
    await syncFolder(this.#file);
  }

  async #condense(ended: Map<string, Ending>): Promise<void> {
    const oldestFirst = [...ended].toSorted(([, a], [, b]) => a.expiresAt - b.expiresAt);
    for (const [key, { kind, expiresAt }] of oldestFirst.slice(0, MAX_ENDED / 2)) {
      this.#through[kind] = Math.max(this.#through[kind], expiresAt);
      ended.delete(key);
    }
    const through = (['token', 'session'] as const).map((kind) =>
      lineOf({ kind, id: THROUGH, expiresAt: this.#through[kind] }),
    );
    const next = `${this.#file}.next`;
    await write(next, constants.O_TRUNC, [...through, ...[...ended.values()].map(lineOf)].join(''));
    await rename(next, this.#file);
    await syncFolder(this.#file);
  }

  #fail(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#log.error(`ended credentials: ${this.#file} ${problem}`);
  }
}

function lineOf({ kind, id, expiresAt }: Ending): string {
  return `\n${kind} ${id} ${Math.trunc(expiresAt)}`;
}

async function write(file: string, flag: number, text: string): Promise<void> {
  const handle = await open(file, FLAGS | flag, 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(file: string): Promise<void> {
  const handle = await open(dirname(file), constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
