import { access, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FromSchema } from 'json-schema-to-ts';
import { every } from '../../../shared/async/every.ts';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { JsonFile } from '../../../shared/json-file.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';
import type { KeptFiles } from '../kept-files.ts';
import type { Reporter } from '../reports/reporter.ts';
import { flightDetail } from './flight-detail.ts';

const LOOK_MS = 5000;
/** Of logs that are kept: as many as anybody has. */
const MAX_LOGS = 20_000;
/** For svc-fleet, while it takes none: then logs wait, as long as the node keeps them. */
const MAX_WAITING = 256;

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
          bytes: { type: 'integer', minimum: 0, description: 'its size when it was read' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;

type Told = FromSchema<typeof told>['logs'][number];

interface FlightTellerOptions {
  readonly paths: Pick<Paths, 'flights' | 'flightsTold' | 'fleet'>;
  readonly tlogs: KeptFiles;
  readonly reporter: Reporter;
  readonly withTracks: boolean;
  /** Whether the vehicle is disarmed, for certain. */
  readonly isDisarmed: () => boolean;
  /** The log that is being written; null: none is. */
  readonly writing: () => string | null;
  /** Who flew, as far as anybody has seen, since it was asked last. */
  readonly pilots: () => readonly string[] | null;
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
  #told = new Map<string, Told>();
  /** Logs to which nothing comes any more, and of which all is told. */
  readonly #finished = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #problem = '';
  /** The log that is being written, where it has nothing new until the vehicle is armed again. */
  #settled: string | null = null;

  constructor(options: FlightTellerOptions) {
    this.#options = options;
    this.#file = new JsonFile(options.paths.flightsTold, validatorOf(told), {
      mode: 0o600,
      maxBytes: 16_000_000,
    });
  }

  async start(): Promise<void> {
    try {
      const found = await this.#file.read();
      this.#told = new Map(found?.logs.map((each) => [each.name, each]));
    } catch (error) {
      this.#options.log.warn(`${this.#file.path} cannot be used, and is made anew: ${messageOf(error)}`);
    }
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
    const { tlogs, paths, isDisarmed, writing } = this.#options;
    if (!isDisarmed()) {
      this.#settled = null;
      return;
    }
    const isMember = await isThere(paths.fleet);
    const names = (await tlogs.names()).slice(-MAX_LOGS);
    const there = new Set(names);
    for (const name of this.#told.keys()) if (!there.has(name)) this.#told.delete(name);
    for (const name of this.#finished) if (!there.has(name)) this.#finished.delete(name);
    for (const name of names) {
      if (this.#finished.has(name)) continue;
      if (!isDisarmed() || this.#ended.signal.aborted) return;
      const found = await tlogs.look(name);
      const known = this.#told.get(name);
      if (found !== null && found.size === known?.bytes && name !== writing()) this.#finished.add(name);
      if (found === null || found.size === known?.bytes || name === this.#settled) continue;
      if (!isMember) await this.#note({ name, flights: known?.flights ?? 0, bytes: found.size });
      else if (await this.#hasRoom()) await this.#tell(name, found.size, name === writing());
    }
  }

  async #tell(name: string, bytes: number, isWriting: boolean): Promise<void> {
    const { tlogs, reporter, withTracks, pilots, paths, log } = this.#options;
    const known = this.#told.get(name)?.flights ?? 0;
    let flights = known;
    try {
      const found = await reporter.flights(await tlogs.open(name), { gone: this.#ended.signal });
      this.#settled = isWriting && (found.at(-1)?.isOver ?? true) ? name : null;
      const over = found.filter(({ isOver }) => isOver || !isWriting);
      // Seen in this process: those of the newest flight.
      const seen = over.length > known ? pilots() : null;
      for (const [index, flight] of over.entries()) {
        if (index < known) continue;
        const isNewest = index === over.length - 1 && isWriting;
        const detail = flightDetail(flight, {
          log: name,
          index,
          pilots: isNewest ? seen : null,
          withTrack: withTracks,
        });
        await mkdir(paths.flights, { recursive: true, mode: 0o750 });
        await writeAtomic(join(paths.flights, `${detail.flight}.json`), JSON.stringify(detail), 0o640);
        flights = index + 1;
      }
    } catch (error) {
      const isFinal = error instanceof ApiError && (error.code === 'E_STORE' || error.code === 'E_TIMEOUT');
      if (!isFinal) throw error;
      log.warn(`no flights of ${name}: ${messageOf(error)}`);
    }
    await this.#note({ name, flights, bytes });
  }

  async #note(each: Told): Promise<void> {
    this.#told.set(each.name, each);
    await this.#file.write({ version: 1, logs: [...this.#told.values()] });
  }

  async #hasRoom(): Promise<boolean> {
    const names = await readdir(this.#options.paths.flights).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return []; // nothing was told yet
      throw error;
    });
    return names.length < MAX_WAITING;
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    },
  );
}
