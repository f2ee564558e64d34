import type { FleetEvent } from '../../shared/fleet/told.ts';
import type { FleetQueue } from './event-queue.ts';

export interface EventSenderLimits {
  /** How long the hub has for its acknowledgement, ms: twice as long each time, up to the longest. */
  readonly ackMs: number;
  readonly longestAckMs: number;
}

/**
 * Sends the events of a queue, one after the other: the next only when the hub has acknowledged the one before. A message may
 * be lost between the broker and the hub, for example while the hub restarts, and the hub cannot tell that from a gap that a full
 * queue has left. So an event in flight behind a lost one would be acknowledged with it, and the lost one be deleted here.
 */
export class EventSender {
  readonly #queue: FleetQueue;
  readonly #publish: (event: FleetEvent) => void;
  readonly #limits: EventSenderLimits;
  readonly #random: () => number;
  #open = false;
  /** Sent, and not acknowledged. */
  #inFlight: number | null = null;
  /** Also without a disk that takes the deletion. */
  #acknowledged = 0;
  #waitMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param publish hands an event to the broker; what becomes of it only the acknowledgement tells */
  constructor(
    queue: FleetQueue,
    publish: (event: FleetEvent) => void,
    limits: EventSenderLimits,
    random: () => number,
  ) {
    this.#queue = queue;
    this.#publish = publish;
    this.#limits = limits;
    this.#random = random;
    this.#waitMs = limits.ackMs;
  }

  /** There is a connection: what was in flight is sent again. */
  connected(): void {
    this.#open = true;
    this.#waitMs = this.#limits.ackMs;
    this.#again();
  }

  disconnected(): void {
    this.#open = false;
    this.#inFlight = null;
    clearTimeout(this.#timer);
  }

  /** There may be a new event. */
  look(): void {
    if (!this.#open || this.#inFlight !== null) return;
    const event = this.#queue.next(this.#acknowledged);
    if (event === null) return;
    this.#inFlight = event.seq;
    this.#publish(event);
    // Half of it by chance: the nodes whose events a hub has missed do not all send again at once.
    const wait = this.#waitMs * (0.5 + this.#random() / 2);
    this.#timer = setTimeout(() => {
      this.#waitMs = Math.min(this.#limits.longestAckMs, this.#waitMs * 2);
      this.#again();
    }, wait);
  }

  /** The hub says that it has stored all up to `seq`, and is believed. */
  acknowledge(stream: string, seq: number): void {
    const last = this.#inFlight ?? this.#acknowledged;
    // After a restart of this process, the first one tells what the process before had sent.
    if (stream !== this.#queue.stream || seq < this.#acknowledged) return;
    if (seq > this.#queue.lastSeq) {
      // The file is an older copy of one whose numbers the hub has seen: it would take new events for repeats.
      this.#queue.renewStream();
      this.#again();
      return;
    }
    this.#queue.acknowledge(stream, seq);
    this.#acknowledged = seq;
    if (seq < last) return;
    this.#waitMs = this.#limits.ackMs;
    clearTimeout(this.#timer);
    this.#inFlight = null;
    this.look();
  }

  #again(): void {
    clearTimeout(this.#timer);
    this.#inFlight = null;
    this.look();
  }
}
