import { closeSync, constants, openSync } from 'node:fs';
import { ReadStream, WriteStream } from 'node:tty';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { runProgram } from '../../../shared/process/run-program.ts';
import { FrameReader } from '../mavlink/wire.ts';
import type { ClientEvents, LinkAddress, SimLink } from './sim-link.ts';

const STTY_MS = 5000;

const MAX_QUEUED = 64 * 1024; // bytes; what the line does not take is lost, as in a full UART

/**
 * A serial device or a pty, by the plain device file: `stty` sets the speed and takes the line discipline away. There
 * is always a client, for a serial line does not say who listens.
 */
export class SerialLink implements SimLink {
  readonly #log: Logger;
  readonly #path: string;
  readonly #baud: number;
  readonly #events: ClientEvents;
  readonly #gone: (reason: string) => void;
  #reader: ReadStream | undefined;
  #writer: WriteStream | undefined;

  /** @param gone called once when the device is taken away */
  constructor(
    log: Logger,
    device: { readonly path: string; readonly baud: number },
    events: ClientEvents,
    gone: (reason: string) => void,
  ) {
    this.#log = log;
    this.#path = device.path;
    this.#baud = device.baud;
    this.#events = events;
    this.#gone = gone;
  }

  async start(): Promise<LinkAddress> {
    const { O_RDWR, O_NOCTTY, O_NONBLOCK } = constants;
    const open = (): number => openSync(this.#path, O_RDWR | O_NOCTTY | O_NONBLOCK);
    const first = open();
    try {
      await runProgram('stty', ['-F', this.#path, String(this.#baud), 'raw', '-echo', 'clocal'], STTY_MS);
    } catch (error) {
      closeSync(first);
      throw error;
    }
    const reader = new ReadStream(first);
    const writer = new WriteStream(open());
    this.#reader = reader;
    this.#writer = writer;
    const frames = new FrameReader();
    reader.on('data', (chunk: Buffer) => {
      for (const frame of frames.push(chunk, performance.now())) this.#events.received(frame);
    });
    reader.on('error', (error) => this.#lost(messageOf(error)));
    reader.on('close', () => this.#lost('closed'));
    reader.on('end', () => this.#lost('hung up'));
    writer.on('error', (error) => this.#lost(messageOf(error)));
    this.#events.connected((bytes) => {
      if (writer.writableLength < MAX_QUEUED) writer.write(bytes);
    });
    return { host: this.#path, port: 0, text: `serial:${this.#path}:${this.#baud}` };
  }

  hangUp(): void {
    // The line stays; a reboot is only a pause on it.
  }

  async stop(): Promise<void> {
    this.#close();
  }

  #lost(reason: string): void {
    if (this.#reader === undefined) return;
    this.#close();
    this.#log.warn(`serial device ${this.#path} is gone: ${reason}`);
    this.#gone(reason);
  }

  #close(): void {
    const [reader, writer] = [this.#reader, this.#writer];
    this.#reader = undefined;
    this.#writer = undefined;
    this.#events.connected(undefined);
    reader?.destroy();
    writer?.destroy();
  }
}
