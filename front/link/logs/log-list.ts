import { deferred } from '../../../shared/async/deferred.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { LogEntry } from '../../../shared/mavlink/decode-logs.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Encoder } from '../encode.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';

const ALL = 0xffff;
const QUIET_MS = 1000;
/** Requests in a row that brought nothing. */
const MAX_SILENT = 4;

interface LogListOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  readonly encoder: Encoder;
  readonly ask: (bytes: Buffer) => void;
}

/** Null: the vehicle did not answer, which is how PX4 says that it has none. */
type ListedLogs = readonly LogEntry[] | null;

/** The list of the vehicle's logs by LOG_REQUEST_LIST, with lost entries requested again. One at a time. */
export class LogList {
  readonly #options: LogListOptions;
  #running: { readonly done: Promise<ListedLogs>; take: (entry: LogEntry) => void } | null = null;

  constructor(options: LogListOptions) {
    this.#options = options;
  }

  /** Asks the vehicle; callers meanwhile get the same answer. @throws ApiError E_TIMEOUT, E_UPSTREAM */
  async read(): Promise<ListedLogs> {
    if (this.#running !== null) return this.#running.done;
    const { promise, resolve, reject } = deferred<ListedLogs>();
    const running = { done: promise, take: this.#collect(resolve, reject) };
    this.#running = running;
    return promise.finally(() => {
      if (this.#running === running) this.#running = null;
    });
  }

  onEntry(entry: LogEntry): void {
    this.#running?.take(entry);
  }

  #collect(
    resolve: (logs: ListedLogs) => void,
    reject: (error: ApiError) => void,
  ): (entry: LogEntry) => void {
    const { clock, vehicle } = this.#options;
    const entries = new Map<number, LogEntry>();
    let expected: number | null = null;
    let silent = 0;
    let timer: Timer;
    let over = false;
    const end = (finish: () => void): void => {
      over = true;
      timer.cancel();
      finish();
    };
    const all = (): readonly LogEntry[] => [...entries.values()].toSorted((a, b) => a.id - b.id);
    const quiet = (): void => {
      if (++silent < MAX_SILENT) ask();
      else if (!vehicle.alive) end(() => reject(new ApiError('E_TIMEOUT', 'The vehicle has fallen silent.')));
      else if (expected === null) end(() => resolve(null));
      else
        end(() =>
          reject(new ApiError('E_TIMEOUT', `The vehicle told ${entries.size} of its ${expected} logs.`)),
        );
    };
    const ask = (): void => {
      const { encoder } = this.#options;
      timer = clock.after(QUIET_MS, quiet);
      if (vehicle.target === null) return;
      const [first, last] = missing(entries, expected);
      this.#options.ask(encoder.logRequestList(vehicle.target, first, last));
    };
    timer = clock.after(0, () => undefined);
    ask();
    return (entry) => {
      if (over) return;
      expected = entry.count;
      if (entry.count === 0) {
        end(() => resolve([]));
        return;
      }
      if (!entries.has(entry.id)) silent = 0;
      entries.set(entry.id, entry);
      timer.cancel();
      if (entries.size >= entry.count) end(() => resolve(all()));
      else timer = clock.after(QUIET_MS, quiet);
    };
  }
}

/** The ids to ask for: ArduPilot counts from 1, PX4 from 0. */
function missing(entries: ReadonlyMap<number, LogEntry>, expected: number | null): readonly [number, number] {
  if (expected === null || entries.size === 0) return [0, ALL];
  const base = entries.has(0) ? 0 : 1;
  const ids = Array.from({ length: expected }, (_, index) => base + index).filter((id) => !entries.has(id));
  // Where the base is not certain yet, or ids have gaps, all are asked for again.
  return ids.length === 0 || (base === 1 && ids.at(-1) === expected)
    ? [0, ALL]
    : [ids[0] ?? 0, ids.at(-1) ?? ALL];
}
