import type { Answer, DecodedPacket, Packet, Question, RecordType } from 'dns-packet';
import { type Rate, TokenBucket } from '../async/token-bucket.ts';
import { PORT, type Sender } from './link-socket.ts';
import { keyOf, type MdnsRecord } from './records.ts';

/**
 * Says on one link what this machine has there (RFC 6762). Whatever is asked, and however often: all its records in one packet, once
 * a second, so that it multiplies nothing. Who cannot hear that, or wants to be told alone, is, a few times a second for all of them.
 */

/** RFC 6762, 6: between two times that a record is sent; and where another one asks whether a name is free. */
const [PAUSE_MS, DEFENCE_MS] = [1000, 250];
/** So many answer others at once; each waits a little. */
const [LEAST_DELAY_MS, DELAY_MS] = [20, 100];
const [PROBES, PROBE_MS, DEFER_MS] = [3, 250, 1000];
/** How often one gives way to others that ask for the same name at the same time. */
const MAX_DEFERRED = 3;

/** Answers to one alone. */
const ALONE: Rate = { perSecond: 4, burst: 8 };
/** RFC 6762, 6.7: what a resolver keeps that does not know of mDNS, seconds; 5.4: a quarter of a host's time to live. */
const [PLAIN_TTL, RECENT_MS] = [10, 30_000];
/** The class IN with the bit by which an answer to the asker alone is wanted, as the package names what it knows not. */
const UNICAST: string = 'UNKNOWN_32769';

const AUTHORITATIVE = 1 << 10;
/** The types of the package know it not. */
const ANY: string = 'ANY';

export interface Clock {
  /** Monotonic, ms. */
  readonly now: () => number;
  /** @returns what cancels it */
  readonly after: (ms: number, run: () => void) => () => void;
  /** 0 to 1. */
  readonly random: () => number;
}

interface Options {
  readonly clock: Clock;
  /** @param to one host; null: all of the link */
  readonly send: (packet: Packet, to: Sender | null, done?: () => void) => void;
  /** Whether a record is one that this machine has, here or on another link. */
  readonly isOwn: (record: Answer) => boolean;
  /** Told of a name that another machine has: this one has to take another. */
  readonly onTaken: (name: string) => void;
}

export class LinkResponder {
  readonly #options: Options;
  readonly #alone: TokenBucket;
  #records: readonly MdnsRecord[] = [];
  /** How many probes are still to be sent; 0: the names are this machine's. */
  #probes = 0;
  #deferred = 0;
  #sentAt = -Infinity;
  /** When the next answer is sent. */
  #dueAt = Infinity;
  #cancelAnswer: () => void = () => undefined;
  #cancelNext: () => void = () => undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#alone = new TokenBucket(ALONE, options.clock.now());
  }

  /** From now on it says this; names that it did not have before are asked for first. */
  publish(records: readonly MdnsRecord[]): void {
    const had = new Set(this.#unique.map(({ name }) => name));
    const stays = new Set(records.map(keyOf));
    const gone = this.#records.filter((record) => record.type === 'PTR' && !stays.has(keyOf(record)));
    this.#records = records;
    if (gone.length > 0 && this.#probes === 0) this.#sayGoodbye(gone);
    if (this.#probes > 0 || this.#unique.some(({ name }) => !had.has(name))) this.#probe(0);
    else this.#announce();
  }

  /** @param isSelf whether it comes from this machine, maybe from another link of it */
  heard(packet: DecodedPacket, from: Sender, isSelf: boolean): void {
    const { questions = [], answers = [], additionals = [], authorities = [] } = packet;
    if (packet.type === 'response') {
      if (!isSelf) this.#heardOthers([...answers, ...additionals]);
      return;
    }
    if (this.#probes > 0) {
      if (!isSelf && authorities.some((each) => this.#isAgainst(each))) this.#defer();
      return;
    }
    const known = new Set(answers.map(keyOf));
    const asked = this.#records.filter((record) => questions.some((each) => asksFor(each, record)));
    const news = asked.filter((record) => !known.has(keyOf(record)));
    if (news.length === 0) return;
    // Asked from another port, it is a resolver that hears nothing of the group.
    if (from.port !== PORT) this.#tellPlainly(packet, news, from);
    else if (questions.some(({ class: kind }) => kind === UNICAST)) this.#tellAlone(news, from);
    else this.#answer(authorities.length > 0 ? DEFENCE_MS : PAUSE_MS);
  }

  /** As a resolver of plain DNS wants it (RFC 6762, 6.7). */
  #tellPlainly({ id, questions = [] }: DecodedPacket, answers: readonly MdnsRecord[], to: Sender): void {
    const plain = (records: readonly MdnsRecord[]): MdnsRecord[] =>
      records.map((record) => ({ ...record, ttl: PLAIN_TTL, flush: false }));
    const additionals = plain(this.#records.filter((record) => !answers.includes(record)));
    if (!this.#alone.take(this.#options.clock.now())) return;
    this.#options.send(
      {
        type: 'response',
        ...(id === undefined ? {} : { id }),
        flags: AUTHORITATIVE,
        questions: questions.map(({ name, type }) => ({ name, type })),
        answers: plain(answers),
        additionals,
      },
      to,
    );
  }

  /** RFC 6762, 5.4: and everybody, where they have not heard it for long. */
  #tellAlone(answers: readonly MdnsRecord[], to: Sender): void {
    const { clock, send } = this.#options;
    if (clock.now() - this.#sentAt > RECENT_MS) this.#answer(PAUSE_MS);
    const additionals = this.#records.filter((record) => !answers.includes(record));
    if (this.#alone.take(clock.now()))
      send({ type: 'response', flags: AUTHORITATIVE, answers: [...answers], additionals }, to);
  }

  /** @param done called when others have been told that its records count no more */
  stop(done: () => void): void {
    this.#cancelAnswer();
    this.#cancelNext();
    if (this.#probes > 0 || this.#records.length === 0) done();
    else this.#sayGoodbye(this.#records, done);
  }

  get #unique(): readonly MdnsRecord[] {
    return this.#records.filter(({ flush }) => flush === true);
  }

  /** Whether another machine's record is against one of this machine's. */
  #isAgainst(record: Answer): boolean {
    return (
      'ttl' in record &&
      record.ttl !== 0 &&
      this.#unique.some(({ type, name }) => type === record.type && isSameName(name, record.name)) &&
      !this.#options.isOwn(record)
    );
  }

  #heardOthers(records: readonly Answer[]): void {
    const against = records.find((record) => this.#isAgainst(record));
    if (against === undefined) return;
    const own = this.#unique.find(({ name }) => isSameName(name, against.name));
    if (own === undefined) return;
    // Who has it already is asked once more: whoever had it first defends it.
    if (this.#probes > 0) this.#options.onTaken(own.name);
    else this.#probe(DEFER_MS);
  }

  #defer(): void {
    if (this.#deferred >= MAX_DEFERRED) return;
    this.#deferred++;
    this.#probe(DEFER_MS, this.#deferred);
  }

  #probe(firstMs: number, deferred = 0): void {
    const { clock, send } = this.#options;
    this.#cancelNext();
    this.#cancelAnswer();
    this.#dueAt = Infinity;
    this.#deferred = deferred;
    this.#probes = PROBES;
    const ask = (): void => {
      if (this.#probes === 0) return this.#announce();
      const names = new Set(this.#unique.map(({ name }) => name));
      const questions = [...names].map((name): Question => ({ name, type: ANY as RecordType }));
      // Not as they are sent otherwise: nobody is to forget what it knows.
      const authorities = this.#unique.map((record) => ({ ...record, flush: false }));
      send({ type: 'query', questions, authorities }, null);
      this.#cancelNext = clock.after(PROBE_MS, () => {
        this.#probes--;
        ask();
      });
    };
    this.#cancelNext = clock.after(firstMs + clock.random() * PROBE_MS, ask);
  }

  /** Twice: the first may be lost. */
  #announce(): void {
    this.#answer(PAUSE_MS);
    this.#cancelNext();
    this.#cancelNext = this.#options.clock.after(2 * PAUSE_MS, () => this.#answer(PAUSE_MS));
  }

  /** @param pauseMs at least so long after the time before */
  #answer(pauseMs: number): void {
    const { clock } = this.#options;
    const at = Math.max(clock.now() + LEAST_DELAY_MS + clock.random() * DELAY_MS, this.#sentAt + pauseMs);
    if (at >= this.#dueAt) return;
    this.#cancelAnswer();
    this.#dueAt = at;
    this.#cancelAnswer = clock.after(at - clock.now(), () => {
      this.#dueAt = Infinity;
      this.#sentAt = clock.now();
      this.#send(this.#records);
    });
  }

  #sayGoodbye(records: readonly MdnsRecord[], done?: () => void): void {
    this.#send(
      records.map((record) => ({ ...record, ttl: 0 })),
      done,
    );
  }

  #send(answers: readonly MdnsRecord[], done?: () => void): void {
    this.#options.send({ type: 'response', flags: AUTHORITATIVE, answers: [...answers] }, null, done);
  }
}

function asksFor({ type, name }: Question, record: MdnsRecord): boolean {
  const wanted: string = type;
  return (wanted === ANY || wanted === record.type) && isSameName(name, record.name);
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
