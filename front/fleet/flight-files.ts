import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { deferred } from '../../shared/async/deferred.ts';
import { every } from '../../shared/async/every.ts';
import { codeOf } from '../../shared/errors.ts';
import { removeDurably } from '../../shared/files/remove-durably.ts';
import { FLIGHT_KIND, MAX_FLIGHT_BYTES, UPLOAD_FILE, UPLOAD_KIND } from '../../shared/fleet/flight.ts';
import { memberOf, parseJson, recordOf } from '../../shared/member.ts';
import type { FleetQueue, NewEvent, Stored } from './event-queue.ts';
import type { FleetLog } from './fleet-log.ts';

const LOOK_MS = 1000;
/** As svc-residual names them. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,80}\.json$/;

interface FlightFilesOptions {
  readonly directory: string;
  readonly queue: FleetQueue;
  readonly isConnected: () => boolean;
  readonly append: (event: NewEvent, stored: Stored) => void;
  readonly log: FleetLog;
}

/**
 * Tells the flights that are written down, the oldest first, then what was uploaded. Each becomes an event while the hub is there, one
 * at a time, and its file goes when the hub has it: so flights flown without a hub take no place of the queue, and none is lost with a
 * queue. After a restart one may be told twice, with the same id.
 */
export class FlightFiles {
  readonly #options: FlightFilesOptions;
  #timer: NodeJS.Timeout | undefined;
  #busy: Promise<void> = Promise.resolve();
  #isBusy = false;
  /** In the queue: its file, its number, and how many events were dropped before. */
  #sent: { readonly path: string; readonly seq: number; readonly dropped: number } | null = null;

  constructor(options: FlightFilesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = every(LOOK_MS, 'flights for the fleet', async () => this.#turn());
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#busy.catch(() => undefined); // told by the timer
  }

  async #turn(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#busy = this.#look().finally(() => {
      this.#isBusy = false;
    });
    await this.#busy;
  }

  async #look(): Promise<void> {
    const { queue, isConnected } = this.#options;
    const sent = this.#sent;
    if (sent !== null) {
      if (queue.holds(sent.seq)) return;
      if (queue.dropped.events === sent.dropped) await removeDurably(sent.path);
      this.#sent = null;
    }
    if (isConnected()) await this.#sendNext();
  }

  async #sendNext(): Promise<void> {
    const { directory, queue, append, log } = this.#options;
    const [name] = (await namesIn(directory)).filter((each) => NAME.test(each)).toSorted();
    if (name === undefined) return;
    const path = join(directory, name);
    const detail = (await stat(path)).size > MAX_FLIGHT_BYTES ? null : parsed(await readFile(path, 'utf8'));
    const isUpload = name.startsWith(UPLOAD_FILE);
    const at = memberOf(detail, isUpload ? 'uploaded_at' : 'ended_at');
    if (detail === null || typeof at !== 'number') {
      log.warn(`${path} is ${isUpload ? 'no upload' : 'no flight'}, and is removed`);
      await removeDurably(path);
      return;
    }
    const { events: dropped } = queue.dropped;
    const { promise, resolve } = deferred<number | null>();
    append({ at, kind: isUpload ? UPLOAD_KIND : FLIGHT_KIND, detail: recordOf(detail) }, resolve);
    const seq = await promise;
    if (seq !== null) this.#sent = { path, seq, dropped };
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []; // no flight yet
    throw error;
  });
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
