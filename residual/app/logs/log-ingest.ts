import { createServer, type Server, type Socket } from 'node:net';
import { contained } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import { parseJson } from '../../../shared/member.ts';
import { LineSplitter } from '../../../shared/rpc/lines.ts';
import { LOG_LEVELS, type LogRecord, readLogLine } from '../../../shared/rpc/logs.ts';
import { listenUnix } from '../../../shared/rpc/socket-file.ts';
import type { LogStore, NumberedRecord } from './log-store.ts';
import type { Telling } from './telling.ts';

const MAX_LINE_CHARS = 256 * 1024;
/**
 * How long a record waits for others, ms: each write costs the card a dozen pages, however short the record is. What tells of
 * trouble, and what somebody follows, does not wait; no record is lost by waiting, because its shipper has it until it is stored.
 */
const BATCH_MS = { urgent: 100, usual: 10_000 } as const;
const URGENT = LOG_LEVELS.indexOf('warn');
const BATCH_ROWS = 2000;
const MAX_SHIPPERS = 8;
const NUMBERED = /^(\d{1,15}) ([\s\S]*)$/;

interface LogIngestOptions {
  readonly path: string;
  readonly store: LogStore;
  readonly log: Telling;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Whether somebody waits for new records. */
  readonly followed: () => boolean;
  /** Called with the committed records, oldest first. */
  readonly onStored: (records: readonly LogRecord[]) => void;
}

interface Shipper {
  readonly id: string;
  readonly socket: Socket;
  waiting: NumberedRecord[];
  lastSeq: number;
}

/** Receives log lines from the shippers (shared/rpc/logs.ts), stores them in batches, and acknowledges those on disk. */
export class LogIngest {
  readonly #options: LogIngestOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #shippers = new Set<Shipper>();
  readonly #flushSoon = contained('log store', () => this.flush());
  #timer: NodeJS.Timeout | null = null;
  /** When it ends, monotonic, ms. */
  #dueAt = Infinity;
  #failed = false;

  constructor(options: LogIngestOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async start(): Promise<void> {
    await listenUnix(this.#server, this.#options.path);
  }

  async stop(): Promise<void> {
    this.flush();
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(socket: Socket): void {
    const { log } = this.#options;
    if (this.#sockets.size >= MAX_SHIPPERS) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    const lines = new LineSplitter(MAX_LINE_CHARS);
    let shipper: Shipper | null = null;
    socket.on('error', (error) => log.debug(`log ingest: ${messageOf(error)}`)); // 'close' follows
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (shipper === null) return;
      this.#flush(shipper);
      this.#shippers.delete(shipper);
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        lines.push(chunk, (line) => {
          if (shipper === null) shipper = this.#meet(socket, line);
          else this.#take(shipper, line);
        });
      } catch (error) {
        log.warn(`log ingest: ${messageOf(error)}`);
        socket.destroy();
      }
    });
  }

  /** @throws Error for a line that is not a hello */
  #meet(socket: Socket, line: string): Shipper {
    const hello: unknown = parseJson(line);
    const id =
      typeof hello === 'object' && hello !== null && 'shipper' in hello && typeof hello.shipper === 'string'
        ? hello.shipper
        : '';
    if (!/^[\w.-]{1,64}$/.test(id)) throw new Error('a shipper without a name');
    const shipper: Shipper = { id, socket, waiting: [], lastSeq: this.#options.store.lastSeq(id) };
    this.#shippers.add(shipper);
    socket.write(`{"ack":${shipper.lastSeq}}\n`);
    return shipper;
  }

  #take(shipper: Shipper, line: string): void {
    const match = NUMBERED.exec(line);
    if (match === null) throw new Error('a line without its number');
    const seq = Number(match[1]);
    if (seq <= shipper.lastSeq) return; // sent again, but already stored
    shipper.lastSeq = seq;
    const { store, now, followed } = this.#options;
    const record = readLogLine(match[2] ?? '', 'unknown', now());
    shipper.waiting.push({ seq, record, session: store.session });
    if (shipper.waiting.length >= BATCH_ROWS) this.#flush(shipper);
    const urgent = followed() || LOG_LEVELS.indexOf(record.level) >= URGENT;
    this.#flushWithin(urgent ? BATCH_MS.urgent : BATCH_MS.usual);
  }

  #flushWithin(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#dueAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(this.#flushSoon, ms);
  }

  /** Stores what waits, as far as it can be stored. */
  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#dueAt = Infinity;
    for (const shipper of this.#shippers) this.#flush(shipper);
  }

  #flush(shipper: Shipper): void {
    const records = shipper.waiting;
    if (records.length === 0) return;
    shipper.waiting = [];
    try {
      this.#options.store.append(shipper.id, records);
      this.#failed = false;
    } catch (error) {
      // A full disk: the shipper keeps unacknowledged lines and sends them again on its next connection.
      if (!this.#failed) this.#options.log.error(`log store: ${messageOf(error)}`);
      this.#failed = true;
      shipper.socket.destroy();
      return;
    }
    if (!shipper.socket.destroyed) shipper.socket.write(`{"ack":${records.at(-1)?.seq ?? 0}}\n`);
    this.#options.onStored(records.map(({ record }) => record));
  }
}
