import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { LogEntry } from '../../../shared/mavlink/decode-logs.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { FlightLogList, FlightLogPart, FlightLogsErased } from '../../../shared/rpc/link-answers.ts';
import type { Clock } from '../clock.ts';
import { isAnew, type Methods, type Part, type SessionReason } from '../part.ts';
import type { Speaking } from '../speaking.ts';
import { LogFetch } from './log-fetch.ts';
import { LogList } from './log-list.ts';
import type { HeldLog, LogStore, OpenLog } from './log-store.ts';

// MAV_CMD
const REQUEST_MESSAGE = 512;
const VERSION_MS = 400;
const VERSION_ASKS = 8;
/** A download that nobody has asked for since this time makes room for the telemetry. */
const ABANDONED_MS = 10_000;
/** Between two looks at whether the vehicle has erased its logs, and how often. */
const ERASE_LOOK_MS = 2000;
const ERASE_LOOKS = 5;

interface FlightLogsOptions extends Speaking {
  /** Null: none are fetched. */
  readonly store: LogStore | null;
}

/** The download that is under way. */
interface Running {
  readonly entry: LogEntry;
  readonly file: OpenLog;
  readonly fetch: LogFetch;
  askedAt: number;
}

/**
 * The logs that the vehicle has written. One is downloaded at a time, into a file; it goes on as long as somebody asks for it,
 * and from where it ended whenever it is asked for again.
 */
export class FlightLogs implements Part {
  readonly methods = {
    logs: async () => this.#logs(),
    log_fetch: async ({ id }) => this.#turns.run(async () => this.#fetch(id)),
    logs_erase: async ({ force }) => this.#erase(force),
  } satisfies Methods;
  readonly #options: FlightLogsOptions;
  readonly #list: LogList;
  /** The newest list of this session of the vehicle. */
  #entries: readonly LogEntry[] | null = null;
  #running: Running | null = null;
  /** How the newest download ended that did not succeed, for those who wait for it. */
  #failed: { readonly id: number; readonly at: number; readonly error: ApiError } | null = null;
  readonly #turns = new Serial();

  constructor(options: FlightLogsOptions) {
    this.#options = options;
    this.#list = new LogList(options);
    const { messages } = options.vehicle;
    messages.on('logEntry', (entry) => this.#list.onEntry(entry));
    messages.on('logData', (data) => this.#running?.fetch.onData(data));
  }

  /** After a reboot ids may mean other logs. */
  onSession(reason: SessionReason): void {
    if (!isAnew(reason)) return;
    this.stop();
    this.#entries = null;
    this.#failed = null;
  }

  /** Called a few times a second. */
  tick(): void {
    const running = this.#running;
    if (running === null) return;
    if (this.#options.clock.now() - running.askedAt > ABANDONED_MS) this.stop();
    else running.fetch.tick();
  }

  /** Ends a download; what came stays for the next one. */
  stop(): void {
    const running = this.#running;
    if (running === null) return;
    this.#running = null;
    running.fetch.stop();
    this.#turns
      .run(async () => running.file.close())
      .catch((error: unknown) => this.#options.log.error(`log ${running.entry.id}: ${String(error)}`));
  }

  /** The RPC method `logs`. An armed vehicle is not asked: what the node holds is told. */
  async #logs(): Promise<FlightLogList> {
    const { vehicle } = this.#options;
    const held = await this.#store.held(await this.#uid());
    if (!vehicle.alive || !this.#mayFetch) {
      if (held.length === 0 && vehicle.target === null) throw new ApiError('E_NO_FC');
      const note =
        'The vehicle is armed or silent and was not asked: these are the logs that this node holds.';
      return { from: 'node', note, logs: held.map(listedFile).toSorted((a, b) => a.id - b.id) };
    }
    if (this.#running !== null && this.#entries !== null) {
      // ArduPilot lists nothing while it sends a log.
      const note = 'A log is being downloaded: this is the list from before.';
      return { from: 'node', note, logs: this.#entries.map((entry) => listed(entry, held)) };
    }
    const entries = await this.#ask();
    const note =
      entries === null
        ? 'The vehicle did not answer. PX4 says nothing when it has no logs or no card.'
        : null;
    return { from: 'vehicle', note, logs: (entries ?? []).map((entry) => listed(entry, held)) };
  }

  /** The RPC method `logs_erase`: all logs on the vehicle. What the node holds stays. */
  async #erase(force: boolean): Promise<FlightLogsErased> {
    const { clock, encoder, send, vehicle, guard } = this.#options;
    const target = vehicle.reach();
    guard.demand('logs_erase', target.system, force, { says: 'erase all logs' });
    this.stop();
    const before = (await this.#ask())?.length ?? 0;
    if (before === 0) return { erased: 0, left: 0 };
    for (let look = 0; look < ERASE_LOOKS; look++) {
      // Not acknowledged: the next list tells. ArduPilot begins a new log at once.
      send(encoder.logErase(target));
      await wait(clock, ERASE_LOOK_MS);
      const left = (await this.#ask())?.length ?? 0;
      if (left < before) return { erased: before - left, left };
    }
    throw new ApiError('E_UPSTREAM', `The vehicle still lists its ${before} logs.`, { left: before });
  }

  /** Names the vehicle in the names of files: a download must find its file again after a restart of this process. */
  async #uid(): Promise<string> {
    const { clock, encoder, send, vehicle } = this.#options;
    for (let asked = 0; vehicle.version === null && vehicle.alive && asked < VERSION_ASKS; asked++) {
      if (vehicle.target !== null)
        send(
          encoder.commandLong(vehicle.target, REQUEST_MESSAGE, [MSG.AUTOPILOT_VERSION, 0, 0, 0, 0, 0, 0], 0),
        );
      await wait(clock, VERSION_MS);
    }
    const uid = (vehicle.version?.uid ?? '').replaceAll(/[^0-9a-f]/g, '');
    return uid === '' ? `system${vehicle.target?.system ?? 0}` : uid;
  }

  get #mayFetch(): boolean {
    const { vehicle, guard } = this.#options;
    return guard.mayChange('log_fetch', vehicle.target?.system ?? null, false);
  }

  async #ask(): Promise<readonly LogEntry[] | null> {
    const entries = await this.#list.read();
    this.#entries = entries ?? [];
    return entries;
  }

  /**
   * The RPC method `log_fetch`: begins a download or keeps it going, and tells how far it is. The file grows only at its end.
   * @throws ApiError E_NOT_FOUND, E_ARMED, E_NO_FC, E_BUSY (another log), E_DISK_FULL, E_STORE; E_TIMEOUT: it broke off
   */
  async #fetch(id: number): Promise<FlightLogPart> {
    const { clock, vehicle, guard } = this.#options;
    const running = this.#running;
    if (running?.entry.id === id) {
      running.askedAt = clock.now();
      const { name, length } = running.file;
      return { name, size: running.entry.size, have: length, complete: false };
    }
    const failed = this.#failed;
    this.#failed = null;
    if (failed?.id === id && clock.now() - failed.at < ABANDONED_MS) throw failed.error;
    const held = await this.#store.held(await this.#uid());
    const ready = vehicle.alive && this.#mayFetch;
    if (ready && running === null && this.#entries?.some((entry) => entry.id === id) !== true)
      await this.#ask();
    const entry = this.#entries?.find((each) => each.id === id);
    const file = held
      .filter((each) => each.id === id && each.complete && (entry === undefined || sameLog(each, entry)))
      .toSorted((a, b) => b.time - a.time)[0];
    if (file !== undefined) return { name: file.name, size: file.have, have: file.have, complete: true };
    if (vehicle.target === null) throw new ApiError('E_NO_FC');
    const detail =
      'This log is not on the node, and logs are not downloaded while the vehicle is armed or its state is unknown.';
    guard.demand('log_fetch', vehicle.target.system, false, { says: 'fetch a log', detail });
    if (running !== null) throw new ApiError('E_BUSY', `Log ${running.entry.id} is being downloaded.`);
    if (entry === undefined) throw new ApiError('E_NOT_FOUND', `The vehicle has no log ${id}.`);
    return this.#begin(entry);
  }

  async #begin(entry: LogEntry): Promise<FlightLogPart> {
    const { clock, log } = this.#options;
    const file = await this.#store.open({ vehicle: await this.#uid(), ...entry }).catch((error: unknown) => {
      if (error instanceof ApiError) throw error;
      throw new ApiError('E_STORE', `The log could not be stored: ${messageOf(error)}.`);
    });
    const fetch = new LogFetch({
      ...this.#options,
      id: entry.id,
      size: entry.size,
      sink: file,
      onEnd: (error) => {
        const running = this.#running;
        if (running?.fetch !== fetch) return;
        this.#turns
          .run(async () => {
            this.#running = null;
            this.#failed = error === null ? null : { id: entry.id, at: clock.now(), error };
            if (error === null) await file.finish();
            await file.close();
          })
          .catch((failure: unknown) => log.error(`log ${entry.id}: ${String(failure)}`));
      },
    });
    this.#running = { entry, file, fetch, askedAt: clock.now() };
    log.info(`log ${entry.id} of ${entry.size} bytes is read from byte ${file.length} on`);
    fetch.start();
    return { name: file.name, size: entry.size, have: file.length, complete: false };
  }

  /** @throws ApiError E_NOT_IMPLEMENTED without a place for logs */
  get #store(): LogStore {
    const { store } = this.#options;
    if (store === null) throw new ApiError('E_NOT_IMPLEMENTED');
    return store;
  }
}

async function wait(clock: Clock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(ms, resolve);
  });
}

function sameLog(held: HeldLog, { size, time }: LogEntry): boolean {
  return held.size === size && held.time === time;
}

function listed(entry: LogEntry, held: readonly HeldLog[]): FlightLogList['logs'][number] {
  const { id, size, time } = entry;
  const file = held
    .filter((each) => each.id === id && sameLog(each, entry))
    .toSorted((a, b) => b.have - a.have)[0];
  return { id, size, time: isoTime(time), held: file?.have ?? 0, complete: file?.complete === true };
}

function listedFile({ id, size, time, have, complete }: HeldLog): FlightLogList['logs'][number] {
  return { id, size, time: isoTime(time), held: have, complete };
}

function isoTime(seconds: number): string | null {
  return seconds === 0 ? null : new Date(seconds * 1000).toISOString();
}
