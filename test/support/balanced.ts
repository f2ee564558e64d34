import { once } from 'node:events';
import { request } from 'node:https';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type ReadEvent, readEvents } from '../../shared/http/event-reader.ts';
import { worksAtLast } from './ask-again.ts';
import type { HubAnswer } from './hub.ts';
import type { SpeakingNode } from './speaking-node.ts';

const ANSWER_MS = 5000;

interface BalancedPlace {
  readonly host: string;
  readonly port: number;
  /** The hubs' authority, PEM. */
  readonly ca: string;
  readonly credential: string;
}

/** Some replicas of a hub as somebody has them: behind a balancer, each request by a connection of its own. */
export class Balanced {
  readonly #place: BalancedPlace;

  constructor(place: BalancedPlace) {
    this.#place = place;
  }

  /** @param ms for an answer @throws Error where nobody answers */
  async call(method: string, path: string, body?: unknown, ms = ANSWER_MS): Promise<HubAnswer> {
    const { response, status } = await this.#request(method, path, { body, ms });
    const text = (await response.toArray()).map(String).join('');
    return { status, headers: new Headers(), body: JSON.parse(text) as HubAnswer['body'] };
  }

  /** A stream of events, until it ends for whatever reason. */
  async *stream(path: string, signal: AbortSignal): AsyncGenerator<ReadEvent> {
    const { response } = await this.#request('GET', path, { signal });
    yield* readEvents(Readable.from(response));
  }

  async #request(
    method: string,
    path: string,
    { body, signal, ms = ANSWER_MS }: { body?: unknown; signal?: AbortSignal; ms?: number },
  ): Promise<{ readonly response: Readable; readonly status: number }> {
    const { host, port, ca, credential } = this.#place;
    const sent = request({
      host,
      port,
      servername: 'localhost',
      ca,
      method,
      path,
      agent: false,
      timeout: ms,
      headers: {
        authorization: `Bearer ${credential}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(signal === undefined ? {} : { signal }),
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    sent.once('timeout', () => sent.destroy(new Error('nobody answers')));
    const [response] = (await once(sent, 'response')) as [Readable & { readonly statusCode: number }];
    return { response, status: response.statusCode };
  }
}

/** Of the events of some nodes. */
interface Told {
  readonly lost: number;
  readonly twice: number;
  readonly disordered: number;
}

export const EACH_ONCE: Told = { lost: 0, twice: 0, disordered: 0 };

/** What an operator's page sees through the balancer: nodes that change, and each event once. */
export class Operator {
  /** The longest time without a word about a node, ms. */
  longestSilence = 0;
  readonly events: {
    readonly id: number;
    readonly node: string;
    readonly stream: string;
    readonly seq: number;
  }[] = [];
  readonly #hubs: Pick<Balanced, 'call' | 'stream'>;
  readonly #ended = new AbortController();
  #heardAt = performance.now();
  #reading: Promise<void> = Promise.resolve();

  constructor(hubs: Pick<Balanced, 'call' | 'stream'>) {
    this.#hubs = hubs;
    void this.#watch();
    void this.#read();
  }

  end(): void {
    this.#ended.abort();
  }

  fresh(): void {
    this.longestSilence = 0;
    this.#heardAt = performance.now();
  }

  /** Reads page by page until all that the nodes have sent is there: what is missing, is there more than once, or stands before an earlier one. */
  async readAllOf(nodes: readonly SpeakingNode[]): Promise<Told> {
    const last = await Promise.all(nodes.map(async (node) => node.settle()));
    await worksAtLast('the operator reads', async () => this.#page());
    const told = { lost: 0, twice: 0, disordered: 0 };
    const disorder = (numbers: readonly number[]): number =>
      numbers.filter((number, at) => number < (numbers[at - 1] ?? 0)).length;
    for (const [at, { id }] of nodes.entries()) {
      const seqs = this.events.filter(({ node }) => node === id).map(({ seq }) => seq);
      const { size } = new Set(seqs);
      told.lost += (last[at] ?? 0) - size;
      told.twice += seqs.length - size;
      told.disordered += disorder(seqs);
    }
    told.disordered += disorder(this.events.map(({ id }) => id));
    for (const node of nodes) node.goOn();
    return told;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        for await (const { event } of this.#hubs.stream('/v1/nodes/stream', signal)) {
          if (event !== 'node') continue;
          this.longestSilence = Math.max(this.longestSilence, performance.now() - this.#heardAt);
          this.#heardAt = performance.now();
        }
      } catch {
        // As a page does: once more.
      }
      if (!signal.aborted) await delay(300);
    }
  }

  async #read(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      await this.#page().catch(() => undefined);
      await delay(200);
    }
  }

  async #page(): Promise<void> {
    this.#reading = this.#reading
      .catch(() => undefined)
      .then(async () => {
        const after = this.events.at(-1)?.id ?? 0;
        const { status, body } = await this.#hubs.call('GET', `/v1/events?after=${after}&limit=1000`);
        if (status === 200) this.events.push(...(body['events'] as Operator['events']));
      });
    return this.#reading;
  }
}
