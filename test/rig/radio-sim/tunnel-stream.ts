import type { Socket } from 'node:net';
import type { Segment } from './segment.ts';

/** Segments under way at once; the bits of `more` have room for them. */
const WINDOW = 32;
const PAYLOAD = 1300;
const RTO_MS = 200;
/** Something sent later has arrived: it is lost, and not only late. */
const REORDER_MS = 30;
const MAX_BACK_OFF = 8;
/** As a connection of TCP whose peer no longer answers. */
const GIVE_UP_MS = 15_000;

interface Outgoing {
  readonly kind: Segment['kind'];
  readonly seq: number;
  readonly payload: Buffer;
  firstAt: number | null;
  sentAt: number;
  tries: number;
}

interface TunnelStreamOptions {
  readonly connection: number;
  readonly socket: Socket;
  readonly send: (segment: Segment) => void;
  /** Called once, when nothing is left to do. */
  readonly onDone: () => void;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

/** One end of a TCP connection through the tunnel: in order and complete, however many segments are lost. */
export class TunnelStream {
  readonly #options: TunnelStreamOptions;
  #outgoing: Outgoing[] = [];
  #nextSeq = 0;
  #expected = 0;
  readonly #held = new Map<number, Segment>();
  #full = false;
  #ackSoon = false;
  #ended = { here: false, there: false };
  #closed = false;
  #done = false;

  constructor(options: TunnelStreamOptions) {
    this.#options = options;
    const { socket } = options;
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('end', () => this.#push('end'));
    socket.on('drain', () => {
      this.#full = false;
      this.#write();
    });
    // What follows is the same as for every other end: the close.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#closed = true;
      if (!this.#ended.here || !this.#ended.there) this.reset();
    });
  }

  /** Asks the other end to connect. */
  open(): void {
    this.#push('open');
  }

  /** Ends it at once, and tells the other end. */
  reset(): void {
    if (this.#done) return;
    this.#send({ kind: 'reset', seq: 0, payload: Buffer.alloc(0) });
    this.#finish();
  }

  receive(segment: Segment): void {
    if (this.#done) return;
    if (segment.kind === 'reset') {
      if (this.#ended.there) this.#options.socket.end();
      this.#finish(this.#ended.there);
      return;
    }
    this.#acknowledged(segment);
    if (segment.kind !== 'ack') {
      const ahead = segment.seq - this.#expected;
      if (ahead >= 0 && ahead < WINDOW) this.#held.set(segment.seq, segment);
      this.#write();
      this.#acknowledge();
    }
    this.#pump();
  }

  /** To be called every few tens of ms: sends again what was lost. */
  tick(): void {
    const now = this.#options.now();
    for (const item of this.#window()) {
      if (item.firstAt === null) continue;
      if (now - item.firstAt > GIVE_UP_MS) {
        this.reset();
        return;
      }
      if (now - item.sentAt > RTO_MS * Math.min(2 ** (item.tries - 1), MAX_BACK_OFF)) this.#transmit(item);
    }
    if (this.#closed && this.#outgoing.length === 0) this.#finish(true);
  }

  #read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += PAYLOAD) this.#push('data', bytes.subarray(at, at + PAYLOAD));
    if (this.#outgoing.length > 2 * WINDOW) this.#options.socket.pause();
  }

  #push(kind: Segment['kind'], payload: Buffer = Buffer.alloc(0)): void {
    if (kind === 'end') this.#ended.here = true;
    this.#outgoing.push({ kind, seq: this.#nextSeq++, payload, firstAt: null, sentAt: 0, tries: 0 });
    this.#pump();
  }

  /** What may be under way. */
  #window(): readonly Outgoing[] {
    const base = this.#outgoing[0]?.seq ?? 0;
    return this.#outgoing.slice(0, WINDOW).filter(({ seq }) => seq < base + WINDOW);
  }

  #pump(): void {
    for (const item of this.#window()) if (item.firstAt === null) this.#transmit(item);
  }

  #transmit(item: Outgoing): void {
    item.sentAt = this.#options.now();
    item.firstAt ??= item.sentAt;
    item.tries++;
    this.#send(item);
  }

  #send({ kind, seq, payload }: Pick<Segment, 'kind' | 'seq' | 'payload'>): void {
    let more = 0;
    for (const held of this.#held.keys()) {
      const bit = held - this.#expected - 1;
      if (bit >= 0 && bit < 32) more |= 1 << bit;
    }
    const { connection, send } = this.#options;
    send({ connection, kind, seq, ack: this.#expected, more: more >>> 0, payload });
  }

  #acknowledged({ ack, more }: Segment): void {
    const has = (seq: number): boolean => seq < ack || (seq > ack && ((more >>> (seq - ack - 1)) & 1) === 1);
    const newest = more === 0 ? ack : ack + 32 - Math.clz32(more);
    this.#outgoing = this.#outgoing.filter(({ seq }) => seq > ack + 32 || !has(seq));
    const late = this.#options.now() - REORDER_MS;
    for (const item of this.#outgoing)
      if (item.firstAt !== null && item.seq < newest && item.sentAt < late) this.#transmit(item);
    if (this.#outgoing.length < WINDOW) this.#options.socket.resume();
  }

  /** One acknowledgement for all that came in this turn of the loop. */
  #acknowledge(): void {
    if (this.#ackSoon) return;
    this.#ackSoon = true;
    setImmediate(() => {
      this.#ackSoon = false;
      if (!this.#done) this.#send({ kind: 'ack', seq: 0, payload: Buffer.alloc(0) });
    });
  }

  #write(): void {
    const { socket } = this.#options;
    while (!this.#full) {
      const segment = this.#held.get(this.#expected);
      if (segment === undefined) return;
      this.#held.delete(this.#expected);
      this.#expected++;
      if (segment.kind === 'data') this.#full = !socket.write(segment.payload);
      if (segment.kind === 'end') {
        this.#ended.there = true;
        socket.end();
      }
    }
  }

  #finish(gently = false): void {
    if (this.#done) return;
    this.#done = true;
    if (!gently) this.#options.socket.destroy();
    this.#options.onDone();
  }
}
