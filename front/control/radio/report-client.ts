import { connect, type Socket } from 'node:net';
import { Retry } from '../../../shared/async/retry.ts';
import { messageOf } from '../../../shared/errors.ts';
import { LineSplitter } from '../../../shared/rpc/lines.ts';
import { parseReport, type Report } from './report.ts';

/** The settings line of a ground station with eight drones has about 20 KB. */
const MAX_LINE_CHARS = 256 * 1024;
const RETRY = { firstMs: 250, capMs: 2000 } as const;

interface ReportListener {
  report(report: Report): void;
  /** @param problem why it is not connected, null if it is */
  connection(problem: string | null): void;
  /** A line that is no report. */
  garbage(): void;
}

/** The connection to one JSON API of wfb-ng on 127.0.0.1; comes back by itself. */
export class ReportClient {
  readonly #port: number;
  readonly #listener: ReportListener;
  readonly #retry: Retry;
  #socket: Socket | null = null;

  constructor(port: number, listener: ReportListener) {
    this.#port = port;
    this.#listener = listener;
    this.#retry = new Retry(() => this.#open(), RETRY);
  }

  start(): void {
    this.#retry.start();
  }

  stop(): void {
    this.#retry.stop();
    this.#socket?.destroy();
  }

  #open(): void {
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true });
    const splitter = new LineSplitter(MAX_LINE_CHARS);
    let problem = 'it closed the connection';
    this.#socket = socket;
    socket.on('connect', () => {
      this.#listener.connection(null);
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk, (line) => this.#line(line));
      } catch (error) {
        socket.destroy(new Error(messageOf(error)));
      }
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      problem = error.code ?? error.message;
    });
    socket.on('close', () => {
      this.#listener.connection(problem);
      this.#retry.again();
    });
  }

  #line(line: string): void {
    const report = parseReport(line);
    if (report === null) {
      this.#listener.garbage();
      return;
    }
    this.#retry.worked();
    this.#listener.report(report);
  }
}
