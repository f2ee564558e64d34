import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Retry } from '../../shared/async/retry.ts';
import { parseJson, recordOf } from '../../shared/member.ts';
import { LineSplitter } from '../../shared/rpc/lines.ts';
import { readLogLine } from '../../shared/rpc/logs.ts';

const MAX_QUEUED = 16_384;
const MAX_QUEUED_CHARS = 8 * 1024 * 1024;
/** Sent and not acknowledged yet. */
const MAX_UNDER_WAY = 8192;
const MAX_LINE_CHARS = 4096;

interface Queued {
  readonly seq: number;
  readonly line: string;
}

/**
 * Sends the log lines of all processes to the store in the residual, and keeps each until the store has it on disk. While the
 * residual is away lines wait, up to a limit; beyond it debug lines are dropped first, then info, then the oldest, and a line
 * with their number is added.
 */
export class LogShipper {
  readonly #path: string;
  readonly #id = randomUUID();
  readonly #retry = new Retry(() => this.#connect(), { firstMs: 100, capMs: 5000 });
  #queue: Queued[] = [];
  #chars = 0;
  #seq = 0;
  /** Lines of the queue that went out on this connection. */
  #sent = 0;
  #socket: Socket | null = null;
  #greeted = false;
  #stopped = false;
  #lost = 0;
  /** Lines that never reached the store. */
  dropped = 0;

  /** @param path the ingest socket of the store */
  constructor(path: string) {
    this.#path = path;
  }

  start(): void {
    this.#retry.start();
  }

  /** Resolves when the store has everything, or after `ms`. */
  async stop(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (this.#queue.length > 0 && this.#greeted && performance.now() < end) {
      await new Promise<void>((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    this.#stopped = true;
    this.#retry.stop();
    this.#socket?.destroy();
  }

  write(line: string): void {
    if (this.#stopped) return;
    if (this.#queue.length >= MAX_QUEUED || this.#chars + line.length > MAX_QUEUED_CHARS) this.#makeRoom();
    this.#push(line);
    this.#pump();
  }

  #push(line: string): void {
    this.#queue.push({ seq: ++this.#seq, line });
    this.#chars += line.length;
  }

  #makeRoom(): void {
    const waiting = this.#queue.slice(this.#sent);
    const under = this.#queue.slice(0, this.#sent);
    const levelOf = ({ line }: Queued): string => readLogLine(line, '', 0).level;
    const half = waiting.length / 2;
    let kept = waiting.filter((queued) => !['trace', 'debug'].includes(levelOf(queued)));
    if (kept.length > half) kept = kept.filter((queued) => levelOf(queued) !== 'info');
    if (kept.length > half) kept = kept.slice(-Math.floor(half));
    const lost = waiting.length - kept.length;
    this.dropped += lost;
    this.#lost += lost;
    this.#queue = [...under, ...kept];
    this.#chars = this.#queue.reduce((sum, { line }) => sum + line.length, 0);
  }

  #connect(): void {
    const socket = connect(this.#path);
    const lines = new LineSplitter(MAX_LINE_CHARS);
    this.#socket = socket;
    this.#sent = 0;
    this.#greeted = false;
    socket.on('connect', () => socket.write(`${JSON.stringify({ shipper: this.#id })}\n`));
    socket.on('data', (chunk: Buffer) => {
      try {
        lines.push(chunk, (line) => this.#acknowledged(recordOf(parseJson(line))));
      } catch {
        socket.destroy(); // not the store; the next connection may be
      }
    });
    socket.on('drain', () => this.#pump());
    socket.on('error', () => undefined); // 'close' follows and tries again; the supervisor says that the residual is away
    socket.on('close', () => {
      this.#socket = null;
      this.#greeted = false;
      this.#sent = 0;
      this.#retry.again();
    });
  }

  #acknowledged({ ack }: { readonly ack?: unknown }): void {
    if (typeof ack !== 'number') return;
    this.#greeted = true;
    let done = 0;
    while (done < this.#queue.length && (this.#queue[done]?.seq ?? Infinity) <= ack) {
      this.#chars -= this.#queue[done]?.line.length ?? 0;
      done++;
    }
    // A store that greets, and hangs up on every record because its disk is full, does not work.
    if (done > 0 || this.#queue.length === 0) this.#retry.worked();
    this.#queue.splice(0, done);
    this.#sent = Math.max(0, this.#sent - done);
    if (this.#lost > 0) {
      const count = this.#lost;
      this.#lost = 0;
      const record = {
        time: new Date().toISOString(),
        level: 'warn',
        service: 'svc-supervisor',
        msg: `${count} log lines were lost while the store was away`,
      };
      this.#push(JSON.stringify(record));
    }
    this.#pump();
  }

  #pump(): void {
    const socket = this.#socket;
    if (socket === null || !this.#greeted || socket.writableNeedDrain) return;
    let text = '';
    const end = Math.min(this.#queue.length, this.#sent + 512, MAX_UNDER_WAY);
    while (this.#sent < end) {
      const queued = this.#queue[this.#sent++];
      if (queued !== undefined) text += `${queued.seq} ${queued.line.replaceAll('\n', ' ')}\n`;
    }
    if (text !== '' && socket.write(text) && this.#sent < Math.min(this.#queue.length, MAX_UNDER_WAY))
      setImmediate(() => this.#pump());
  }
}
