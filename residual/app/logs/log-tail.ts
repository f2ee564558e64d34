import { PassThrough } from 'node:stream';
import { every } from '../../../shared/async/every.ts';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError } from '../../../shared/errors.ts';
import { LOG_LEVELS, type LogRecord } from '../../../shared/rpc/logs.ts';
import { entryOf } from './log-entry.ts';
import type { LogFilter } from './log-filter.ts';

const MAX_READERS = 16;
/** Fewer than MAX_READERS, so that some are left for the operator. */
const MAX_PER_TOKEN = 4;
const MAX_BY_TOKENS = 12;
const KEEP_ALIVE_MS = 15_000;
/** While the replay of a reader is looked up, so many new records wait for it. */
const MAX_HELD = 1000;
/** A reader that is further behind loses entries, and gets their number. */
const MAX_BEHIND_BYTES = 256 * 1024;

interface Reader {
  readonly stream: PassThrough;
  readonly filter: LogFilter;
  readonly owner: Pick<Principal, 'kind' | 'id'>;
  lost: number;
  /** Records that came before the replay; null once it is out. */
  held: LogRecord[] | null;
}

/** New log entries as they are stored, to any number of readers (16 at most), as server-sent events. */
export class LogTail {
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | null = null;

  start(): void {
    this.#timer = every(KEEP_ALIVE_MS, 'log readers', () => {
      for (const { stream } of this.#readers) stream.write(': keep-alive\n\n');
    });
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const { stream } of this.#readers) stream.end();
  }

  /** Whether anybody reads. */
  get followed(): boolean {
    return this.#readers.size > 0;
  }

  /**
   * @param owner the principal of the reader
   * @param replay entries to begin with, oldest first; records that are stored meanwhile follow them
   * @throws ApiError E_RATE_LIMITED if there are 16 readers already, or 4 of this token; what `replay` throws
   */
  async open(
    filter: LogFilter,
    { kind, id }: Pick<Principal, 'kind' | 'id'>,
    replay: () => Promise<readonly ReturnType<typeof entryOf>[]>,
  ): Promise<PassThrough> {
    const byTokens = [...this.#readers].filter(({ owner }) => owner.kind === 'token');
    const own = byTokens.filter(({ owner }) => owner.id === id).length;
    if (kind === 'token' && (own >= MAX_PER_TOKEN || byTokens.length >= MAX_BY_TOKENS))
      throw new ApiError(
        'E_RATE_LIMITED',
        `At most ${MAX_PER_TOKEN} readers of one token, and ${MAX_BY_TOKENS} of all, follow the log at a time.`,
      );
    if (this.#readers.size >= MAX_READERS)
      throw new ApiError('E_RATE_LIMITED', `At most ${MAX_READERS} readers follow the log at a time.`);
    const stream = new PassThrough({ highWaterMark: MAX_BEHIND_BYTES });
    const held: LogRecord[] = [];
    const reader: Reader = { stream, filter, owner: { kind, id }, lost: 0, held };
    this.#readers.add(reader);
    stream.once('close', () => this.#readers.delete(reader));
    stream.write(': follows\n\n'); // sends the headers at once, even without an entry
    const entries = await replay().catch((error: unknown) => {
      stream.destroy();
      throw error;
    });
    reader.held = null;
    if (!stream.writable) return stream; // stopped meanwhile
    for (const entry of entries) stream.write(`data: ${JSON.stringify(entry)}\n\n`);
    for (const record of held) this.#tell(reader, record);
    return stream;
  }

  push(records: readonly LogRecord[]): void {
    for (const reader of this.#readers) {
      for (const record of records) {
        if (fits(record, reader.filter)) this.#tell(reader, record);
      }
    }
  }

  #tell(reader: Reader, record: LogRecord): void {
    const { stream, held } = reader;
    if (held === null ? stream.writableLength > MAX_BEHIND_BYTES : held.length >= MAX_HELD) {
      reader.lost++;
      return;
    }
    if (held !== null) {
      held.push(record);
      return;
    }
    if (reader.lost > 0)
      stream.write(`data: ${JSON.stringify({ kind: 'lagged', dropped: reader.lost })}\n\n`);
    reader.lost = 0;
    const { tsUs, source, level, message, fields } = record;
    stream.write(
      `data: ${JSON.stringify(entryOf({ id: null, ts_us: tsUs, source, level, msg: message, fields }))}\n\n`,
    );
  }
}

function fits({ level, source }: LogRecord, { minLevel, sources }: LogFilter): boolean {
  if (minLevel !== null && LOG_LEVELS.indexOf(level) < minLevel) return false;
  return sources.length === 0 || sources.includes(source);
}
