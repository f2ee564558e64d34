import type { FileHandle } from 'node:fs/promises';
import type { FromSchema } from 'json-schema-to-ts';
import { every } from '../../../shared/async/every.ts';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { JsonFile } from '../../../shared/json-file.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';
import type { FleetOutbox } from '../fleet-outbox.ts';
import type { KeptFiles } from '../kept-files.ts';
import type { Reporter } from '../reports/reporter.ts';
import { flightDetail } from './flight-detail.ts';

const LOOK_MS = 5000;
/** Of logs that are kept: as many as anybody has. */
const MAX_LOGS = 20_000;
/** In which one flight may be. */
const MAX_CHAIN = 16;
/** However often it is tried again. */
const FINAL: ReadonlySet<string> = new Set(['E_LOG', 'E_STORE', 'E_TIMEOUT']);
const NOTHING = { pilots: null, recordings: [] } as const;

const told = {
  type: 'object',
  required: ['version', 'logs'],
  properties: {
    version: { const: 1 },
    logs: {
      type: 'array',
      maxItems: MAX_LOGS,
      items: {
        type: 'object',
        required: ['name', 'flights', 'bytes'],
        properties: {
          name: { type: 'string', maxLength: 300 },
          flights: { type: 'integer', minimum: 0, description: 'how many of it were told' },
          bytes: {
            type: 'integer',
            minimum: 0,
            description: 'its size when it was read; 0: it has to be read again',
          },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;

type ToldLog = FromSchema<typeof told>['logs'][number];

interface FlightTellerOptions {
  readonly paths: Pick<Paths, 'flightsTold'>;
  /** Where it has no room, logs wait, as long as the node keeps them. */
  readonly outbox: FleetOutbox;
  readonly tlogs: KeptFiles;
  readonly reporter: Reporter;
  readonly withTracks: boolean;
  /** Whether the vehicle is disarmed, for certain. */
  readonly isDisarmed: () => boolean;
  /** The log that is being written; null: none is. */
  readonly writing: () => string | null;
  /** The log that was written until this one was begun, as far as this process has seen; null: none, or nobody knows. */
  readonly before: (name: string) => string | null;
  /** Who flew, and which recordings ran, as far as anybody has seen, since it was asked last. */
  readonly seen: () => { readonly pilots: readonly string[] | null; readonly recordings: readonly string[] };
  readonly log: Logger;
}

/**
 * Writes down each flight for the fleet once it is over: read from the telemetry log, so that a flight whose node lost its power is told
 * after the next start. Which ones were told is on the disk; a flight that is told twice nevertheless has the same id.
 */
export class FlightTeller {
  readonly #options: FlightTellerOptions;
  readonly #file: JsonFile<FromSchema<typeof told>>;
  readonly #work = new Serial();
  readonly #ended = new AbortController();
  #told = new Map<string, ToldLog>();
  /** Logs to which nothing comes any more, and of which all is told. */
  readonly #finished = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #problem = '';
  /** The log that is being written, where it has nothing new until the vehicle is armed again. */
  #settled: string | null = null;

  constructor(options: FlightTellerOptions) {
    this.#options = options;
    this.#file = new JsonFile(options.paths.flightsTold, fileValidatorOf(told), {
      mode: 0o600,
      maxBytes: 16_000_000,
    });
  }

  async start(): Promise<void> {
    const found = await this.#file.readOrPutAside((problem) =>
      this.#options.log.warn(`flights: ${problem} It is made anew.`),
    );
    this.#told = new Map(found?.logs.map((each) => [each.name, each]));
    this.#timer = every(LOOK_MS, 'flights', () => this.look());
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#ended.abort();
    await this.#work.idle();
  }

  /** There may be a flight that is over. */
  look(): void {
    if (this.#work.size > 1 || this.#ended.signal.aborted) return;
    this.#work
      .run(async () => this.#look())
      .then(
        () => {
          this.#problem = '';
        },
        (error: unknown) => {
          const problem = messageOf(error);
          const isUsual =
            error instanceof ApiError && (error.code === 'E_BUSY' || error.code === 'E_DRAINING');
          if (problem !== this.#problem && !isUsual) this.#options.log.warn(`flights: ${problem}`);
          this.#problem = problem;
        },
      );
  }

  async #look(): Promise<void> {
    const { outbox, isDisarmed, before } = this.#options;
    if (!isDisarmed()) {
      this.#settled = null;
      return;
    }
    const isMember = await outbox.isMember();
    const unread = await this.#unread();
    for (const [name, bytes] of unread) {
      if (!isDisarmed() || this.#ended.signal.aborted) return;
      if (unread.has(before(name) ?? '')) continue; // the one before tells this one too, or it is its turn after it
      if (!isMember) await this.#note([{ name, flights: this.#flightsOf(name), bytes }]);
      else if (await outbox.hasRoom()) for (const read of await this.#tell(name, unread)) unread.delete(read);
    }
  }

  /** Logs with something that was not read yet, and their sizes; by their names, which are their times. */
  async #unread(): Promise<Map<string, number>> {
    const { tlogs, writing } = this.#options;
    const names = (await tlogs.names()).slice(-MAX_LOGS);
    const there = new Set(names);
    for (const name of this.#told.keys()) if (!there.has(name)) this.#told.delete(name);
    for (const name of this.#finished) if (!there.has(name)) this.#finished.delete(name);
    const unread = new Map<string, number>();
    for (const name of names) {
      if (this.#finished.has(name)) continue;
      const found = await tlogs.look(name);
      if (found === null) continue;
      const isRead = found.size === this.#told.get(name)?.bytes;
      if (isRead && name !== writing()) this.#finished.add(name);
      if (!isRead && name !== this.#settled) unread.set(name, found.size);
    }
    return unread;
  }

  /** @returns the logs that were read: this one, and those in which its last flight goes on */
  async #tell(first: string, unread: ReadonlyMap<string, number>): Promise<readonly string[]> {
    const { reporter, withTracks, outbox, log, writing } = this.#options;
    const names = this.#chainOf(first, unread);
    const written = writing();
    try {
      const logs = await this.#opened(names);
      const { flights, counts } = await reporter.flights(logs, { gone: this.#ended.signal });
      const read = names.slice(0, counts.length);
      const last = flights.at(-1);
      const isWriting = read.at(-1) === written;
      /** A flight that will go on. */
      const open = isWriting && last?.isOver === false ? last : null;
      this.#settled = isWriting && open === null ? written : null;
      const fresh = flights.filter(
        (flight) => flight !== open && flight.index >= this.#flightsOf(names[flight.log] ?? ''),
      );
      // Seen in this process: those of the newest flight.
      const seen = fresh.length > 0 ? this.#options.seen() : NOTHING;
      for (const flight of fresh) {
        const detail = flightDetail(flight, {
          log: names[flight.log] ?? first,
          logs: names.slice(flight.log, flight.lastLog + 1),
          ...(isWriting && flight === fresh.at(-1) ? seen : NOTHING),
          withTrack: withTracks,
        });
        await outbox.put(detail.flight, detail);
      }
      await this.#note(
        read.map((name, index) => {
          const all = Math.max(counts[index] ?? 0, this.#flightsOf(name));
          if (open === null || index < open.log) return { name, flights: all, bytes: unread.get(name) ?? 0 };
          return { name, flights: index === open.log ? open.index : 0, bytes: 0 }; // until it is over
        }),
      );
      return read;
    } catch (error) {
      const isFinal = error instanceof ApiError && FINAL.has(error.code);
      if (!isFinal) throw error;
      log.warn(`no flights of ${first}: ${messageOf(error)}`);
      await this.#note([{ name: first, flights: this.#flightsOf(first), bytes: unread.get(first) ?? 0 }]);
      return [first];
    }
  }

  async #opened(names: readonly string[]): Promise<readonly FileHandle[]> {
    const logs: FileHandle[] = [];
    try {
      for (const name of names) logs.push(await this.#options.tlogs.open(name));
    } catch (error) {
      for (const handle of logs) await handle.close();
      throw error;
    }
    return logs;
  }

  /** It, and the logs in which its last flight may go on: those that were seen to follow, or else those with the next names. */
  #chainOf(first: string, unread: ReadonlyMap<string, number>): readonly string[] {
    const names = [...unread.keys()];
    const chain = [first];
    for (let at: string | undefined = first; at !== undefined && chain.length < MAX_CHAIN; ) {
      const last: string = at;
      const seen = names.find((name) => this.#options.before(name) === last);
      at = seen ?? names[names.indexOf(last) + 1];
      if (at !== undefined && chain.includes(at)) return chain;
      if (at !== undefined) chain.push(at);
    }
    return chain;
  }

  #flightsOf(name: string): number {
    return this.#told.get(name)?.flights ?? 0;
  }

  async #note(read: readonly ToldLog[]): Promise<void> {
    for (const each of read) this.#told.set(each.name, each);
    await this.#file.write({ version: 1, logs: [...this.#told.values()] });
  }
}
