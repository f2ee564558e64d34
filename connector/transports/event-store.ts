import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

// What a client can miss and still get: a session holds no more than this.
const MAX_EVENTS = 256;
const MAX_CHARS = 1024 * 1024;

interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly message: JSONRPCMessage;
  readonly chars: number;
}

/** The newest events of one session, so that a client whose connection broke can go on after the last one that it got. */
export class SessionEvents implements EventStore {
  readonly #kept: StoredEvent[] = [];
  #chars = 0;
  #count = 0;

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    this.#count++;
    const id = `${stream}_${this.#count}`;
    const { length: chars } = JSON.stringify(message);
    this.#kept.push({ id, stream, message, chars });
    this.#chars += chars;
    while (this.#kept.length > MAX_EVENTS || (this.#chars > MAX_CHARS && this.#kept.length > 1))
      this.#chars -= this.#kept.shift()?.chars ?? 0;
    return Promise.resolve(id);
  }

  /** Undefined once the event was dropped: the client then knows that it has missed something. */
  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.#kept.find((event) => event.id === id)?.stream);
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#kept.findIndex(({ id }) => id === lastId);
    const { stream } = this.#kept[at] ?? {};
    if (stream === undefined) throw new Error('this event is not kept any more');
    // An event without content only carried its id.
    for (const event of this.#kept.slice(at + 1))
      if (event.stream === stream && event.chars > 2) await send(event.id, event.message);
    return stream;
  }
}
