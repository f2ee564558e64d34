import type { Socket } from 'node:net';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import type { FrameSink } from '../router/router.ts';
import type { MessageFilter } from './message-filter.ts';

/** Writes frames to a stream socket; all frames of one event-loop turn go out in one system call. */
export class StreamSink implements FrameSink {
  readonly #socket: Socket;
  readonly #filter: MessageFilter | null;
  #corked = false;

  constructor(socket: Socket, filter: MessageFilter | null = null) {
    this.#socket = socket;
    this.#filter = filter;
  }

  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  accepts(frame: Frame): boolean {
    return this.#filter === null || this.#filter.accepts(frame);
  }

  send(frame: Buffer): void {
    const socket = this.#socket;
    if (!this.#corked) {
      this.#corked = true;
      socket.cork();
      process.nextTick(() => {
        this.#corked = false;
        socket.uncork();
      });
    }
    socket.write(frame);
  }
}
