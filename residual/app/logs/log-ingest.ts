import { createServer, type Server, type Socket } from 'node:net';
import { every } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { LineSplitter } from '../../../shared/rpc/lines.ts';
import { type LogRecord, readLogLine } from '../../../shared/rpc/logs.ts';
import { listenUnix } from '../../../shared/rpc/socket-file.ts';
import type { LogStore, NumberedRecord } from './log-store.ts';

const MAX_LINE_CHARS = 256 * 1024;
const BATCH_MS = 100;
const BATCH_ROWS = 2000;
const MAX_SHIPPERS = 8;
const NUMBERED = /^(\d{1,15}) ([\s\S]*)$/;

export interface LogIngestOptions {
  readonly path: string;
  readonly store: LogStore;
  readonly log: Logger;
  /** Wall clock, ms. */
  readonly now: () => number;
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
  #timer: NodeJS.Timeout | null = null;
  #failed = false;

  constructor(options: LogIngestOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async start(): Promise<void> {
    await listenUnix(this.#server, this.#options.path);
    this.#timer = every(BATCH_MS, 'log store', () => this.#flushAll());
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#flushAll();
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
    const hello: unknown = JSON.parse(line);
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
    const record = readLogLine(match[2] ?? '', 'unknown', this.#options.now());
    shipper.waiting.push({ seq, record });
    if (shipper.waiting.length >= BATCH_ROWS) this.#flush(shipper);
  }

  #flushAll(): void {
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
