import { randomUUID } from 'node:crypto';
import { type Deferred, deferred } from '../../../../shared/async/deferred.ts';
import { ApiError, messageOf } from '../../../../shared/errors.ts';
import { memberOf } from '../../../../shared/member.ts';
import type { Logger } from '../../../../shared/process/logger.ts';
import type { BoundRadio } from '../../relay/bound-radios.ts';
import type { RelayCalls } from '../../relay/relay-calls.ts';
import type { Radio } from '../radio.ts';
import { BackgroundWork } from './background-work.ts';
import type { ChangeClock } from './change-clock.ts';
import type { ChangeStore, OpenChange } from './change-file.ts';
import { type ChannelAnswer, IN_MS, type Phase } from './channel-phases.ts';
import { PatientCard } from './patient-card.ts';

const PATH = '/api/wfb/channel';
/** A drone tries its card before it answers to `prepare`. */
const PREPARE_MS = 6000;
const COMMIT_MS = 2500;
/** One question on a channel, with a connection of its own. */
const ASK_MS = 1500;
const AGAIN_MS = 300;
/** On each channel while it looks for the drones: a drone stays on one for longer than this end needs for both. */
const SEARCH_MS = 3000;
/** Where some of several drones were met, for the others to come. */
const GATHER_MS = 15_000;
/** Between two words that the change is over, to drones that have not confirmed it. */
const DONE_MS = 1000;
/** A drone that has not answered for so long is lost. */
export const HEARD_MS = 10_000;
/** The answer to the operator; what is not settled by then goes on. */
const ANSWER_MS = 22_000;

export interface GroundRelay extends RelayCalls {
  health(deviceId: string): { readonly silentMs: number | null };
}

interface GroundChangeOptions {
  readonly radio: Pick<Radio, 'channel' | 'tune' | 'mayUse' | 'keepChannel'>;
  readonly relay: GroundRelay;
  /** The drones that have a link. */
  readonly bound: () => readonly Pick<BoundRadio, 'device_id'>[];
  readonly store: ChangeStore;
  /** How long it asks on the new channel before it looks on the old one, too. */
  readonly revertMs: number;
  readonly clock: ChangeClock;
  readonly log: Logger;
}

/**
 * A ground station's side of a change of the channel. Once a drone was asked to prepare, the change is settled where every drone's svc-control has
 * said through the relay that it is, on the new channel or on the old one; until then this end looks on both by turns.
 */
export class GroundChange {
  readonly #options: GroundChangeOptions;
  readonly #work: BackgroundWork;
  #card: PatientCard;
  #open: OpenChange | null = null;
  /** Why the new channel was not proved; the first reason is the one to be told. */
  #why: string | null = null;
  #answer: Deferred<ChannelAnswer> = deferred<ChannelAnswer>();
  #settledAt = 0;
  readonly #stopped = new AbortController();

  constructor(options: GroundChangeOptions) {
    this.#options = options;
    this.#work = new BackgroundWork(options.clock, options.log);
    this.#card = new PatientCard(options);
  }

  /** Goes on with the change in which it was interrupted, from the channel that the card is on. */
  async start(open: OpenChange): Promise<void> {
    const { from, to, settled } = open;
    this.#open = open;
    this.#why = 'This ground station was restarted in the middle of it';
    this.#settledAt = this.#options.clock.now();
    const now = settled ?? (await this.#options.radio.channel().catch(() => from)); // refused below, with its reason
    this.#resolve(now === to ? to : from, SEARCH_MS);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#work.stop();
  }

  /** Whether a change is open of which a drone that is heard does not know yet that it is over. */
  get isBusy(): boolean {
    return this.#open?.left.some((id) => this.#silentMs(id) < HEARD_MS) === true;
  }

  /** Why this ground station and a drone may be on two channels; null while they are not. */
  get problem(): string | null {
    if (this.#open === null || (this.#open.settled !== null && this.isBusy)) return null;
    const { from, to, settled, left } = this.#open;
    const refused = this.#card.problem;
    const why = refused ?? this.#why;
    return `The change from channel ${from} to ${to} is not confirmed by ${left.join(', ')}${why === null ? '' : ` (${why})`}. ${
      settled === null
        ? 'This ground station tries both channels until it is.'
        : `This ground station stays on channel ${settled}.`
    }`;
  }

  /** An operator has the last word: a change that is not over is forgotten. @returns whether there was one */
  async abandon(): Promise<boolean> {
    await this.#work.end();
    if (this.#open === null) return false;
    await this.#forget();
    return true;
  }

  /**
   * @param drones those that are heard
   * @throws ApiError E_RADIO_REFUSED with the reason of whichever end refuses, and as `Radio.tune`; then nobody has changed
   */
  async change(from: number, to: number, drones: readonly string[], forced: boolean): Promise<ChannelAnswer> {
    const { radio, store } = this.#options;
    await radio.mayUse(to);
    await this.#work.end();
    const open: OpenChange = { id: randomUUID(), from, to, settled: null, drones, left: drones };
    await store.write(open);
    this.#open = open;
    this.#why = null;
    this.#card = new PatientCard(this.#options);
    this.#answer = deferred<ChannelAnswer>();
    const unprepared = await this.#prepare(open, forced);
    const refused = unprepared ?? (await this.#try(open));
    if (refused !== null) {
      this.#why = messageOf(refused);
      const isRefusal = refused instanceof ApiError && refused.code === 'E_RADIO_REFUSED';
      // Who refuses is where it was, and the others are told that it is over; who does not answer is looked for.
      if (unprepared === null ? this.#card.on === from : isRefusal) this.#open = { ...open, settled: from };
      this.#resolve(from, SEARCH_MS);
      const said = await this.#said(open);
      if (said.reverted) throw refused;
      return said;
    }
    const missed = await Promise.all(
      drones.map(async (drone) =>
        this.#ask(open, drone, { phase: 'commit', channel: to, in_ms: IN_MS }, COMMIT_MS),
      ),
    );
    const silent = missed.filter((each) => each !== null);
    // Who did not hear the commit stays, and who has switched comes back.
    if (silent.length > 0) {
      this.#why = `Not every drone has confirmed that it switches: ${silent.join('; ')}`;
      this.#resolve(from, SEARCH_MS);
    } else this.#resolve(to, this.#options.revertMs, IN_MS);
    return this.#said(open);
  }

  /** Has this end's own card take the channel, and go back. @returns why it did not do both; `PatientCard.on` tells whether it is back */
  async #try({ from, to }: OpenChange): Promise<unknown> {
    let refusal: unknown = null;
    try {
      await this.#options.radio.tune(to);
    } catch (error) {
      refusal = error;
    }
    if (await this.#card.to(from)) return refusal;
    return new ApiError(
      'E_RADIO_REFUSED',
      `The card of this end does not go back: ${this.#card.problem ?? ''}.`,
    );
  }

  /** Has each drone try its card. @returns why one of them is not prepared */
  async #prepare({ id, from, to, drones }: OpenChange, forced: boolean): Promise<unknown> {
    const body = { channel: to, phase: 'prepare', id, from, ...(forced ? { force: true } : {}) };
    const request = { method: 'POST', path: PATH, body, timeoutMs: PREPARE_MS };
    try {
      for (const drone of drones) {
        const { status, body: said } = await this.#options.relay.call(drone, request);
        if (status !== 200)
          return new ApiError('E_RADIO_REFUSED', `The drone ${drone} refuses: ${reasonOf(said, status)}`);
      }
    } catch (error) {
      return error;
    }
    return null;
  }

  /** What is known in time for the operator. */
  async #said(open: OpenChange): Promise<ChannelAnswer> {
    const late = new AbortController();
    try {
      return await Promise.race([
        this.#answer.promise,
        this.#notYet(open, AbortSignal.any([late.signal, this.#stopped.signal])),
      ]);
    } finally {
      late.abort();
    }
  }

  /** @returns null if the drone says yes, else why not */
  async #ask(
    { id }: OpenChange,
    drone: string,
    { phase, ...rest }: { readonly phase: Phase; readonly channel: number; readonly in_ms?: number },
    timeoutMs: number,
  ): Promise<string | null> {
    try {
      // What has begun is ended whether the vehicle is armed or not: an end that is left behind helps nobody.
      const body = { ...rest, phase, id, force: true };
      const { relay } = this.#options;
      const answer = await relay.call(drone, { method: 'POST', path: PATH, body, timeoutMs, fresh: true });
      if (answer.status === 200 && memberOf(answer.body, 'proved') === true) return null;
      return `${drone}: ${reasonOf(answer.body, answer.status)}`;
    } catch (error) {
      return `${drone}: ${messageOf(error)}`;
    }
  }

  /** Goes on in the background until all is over. */
  #resolve(first: number, firstMs: number, waitMs = 0): void {
    const { clock, log } = this.#options;
    let channel = first;
    let stayMs = firstMs;
    this.#work.run(async (signal) => {
      if (waitMs > 0 && this.#open?.settled === null) await clock.pause(waitMs, signal);
      for (let visit = 0; this.#open !== null; visit++) {
        const { from, to, settled } = this.#open;
        if (settled !== null) {
          await this.#finish(this.#open, settled, signal);
          continue;
        }
        if (visit === 2)
          log.warn(`radio: looking for the drones on channels ${from} and ${to}: ${this.#why ?? ''}`);
        let met = 0;
        if (await this.#card.to(channel)) {
          signal.throwIfAborted();
          met = await this.#visit(this.#open, channel, stayMs, signal);
        } else {
          this.#why ??= this.#card.problem;
          await clock.pause(Math.min(this.#card.dueIn(from), this.#card.dueIn(to)), signal);
        }
        channel = channel === from ? to : from;
        // Who was met there follows, when it has heard nothing for a while.
        stayMs = met > 0 && this.#open?.settled === null ? GATHER_MS : SEARCH_MS;
      }
    });
  }

  /**
   * Asks on a channel for so long, and settles the change where all drones are. Where only some are it is settled on the channel of
   * before, on which drones are that have never heard of the change; on the other one only if the card refuses the one of before.
   * @returns how many drones are there
   */
  async #visit(open: OpenChange, channel: number, ms: number, signal: AbortSignal): Promise<number> {
    const { clock, store, log } = this.#options;
    const since = clock.now();
    const some = channel === open.from || this.#card.dueIn(open.from) > 0;
    const there = new Set<string>();
    for (;;) {
      const asked = this.#stillBound(open.left).filter((id) => !there.has(id));
      const answers = await Promise.all(
        asked.map(async (id) => {
          const why = await this.#ask(open, id, { phase: 'confirm', channel }, ASK_MS);
          if (why === null) there.add(id);
          return why;
        }),
      );
      signal.throwIfAborted();
      const missing = answers.filter((why) => why !== null);
      if (missing.length === 0) break;
      if (channel === open.to) this.#why ??= `Channel ${channel} was not confirmed: ${missing.join('; ')}`;
      const isOver = clock.now() - since >= (some && there.size > 0 ? Math.max(ms, GATHER_MS) : ms);
      if (isOver && some && there.size > 0) break;
      if (isOver) return there.size;
      await clock.pause(AGAIN_MS, signal);
    }
    // Nobody is left who could be met: every drone was unbound meanwhile.
    const settled = there.size > 0 ? channel : open.from;
    const next = { ...open, settled };
    await store.write(next);
    this.#open = next;
    this.#settledAt = clock.now();
    log.info(`radio: settled on channel ${settled}`);
    return there.size;
  }

  /** Keeps the channel, and tells the drones that it is over. */
  async #finish(open: OpenChange, settled: number, signal: AbortSignal): Promise<void> {
    const { clock, radio, store } = this.#options;
    if (this.#card.on !== settled && !(await this.#card.to(settled))) {
      await clock.pause(this.#card.dueIn(settled), signal);
      return;
    }
    await radio.keepChannel(settled).catch((error: unknown) => {
      this.#why = messageOf(error);
      throw error;
    });
    signal.throwIfAborted();
    const bound = this.#stillBound(open.left);
    const words = await Promise.all(
      bound.map(async (id) => {
        const lost = this.#silentMs(id) >= HEARD_MS;
        return lost
          ? id
          : (await this.#ask(open, id, { phase: 'done', channel: settled }, ASK_MS)) === null
            ? null
            : id;
      }),
    );
    signal.throwIfAborted();
    const left = words.filter((id) => id !== null);
    if (left.length === 0) await this.#forget();
    else {
      // While nobody knows that it is over, it may be settled elsewhere yet.
      const lost =
        left.length === open.drones.length &&
        clock.now() - this.#settledAt >= HEARD_MS &&
        left.every((id) => this.#silentMs(id) >= HEARD_MS);
      const next = { ...open, left, settled: lost ? null : settled };
      if (lost || left.length < open.left.length) await store.write(next);
      this.#open = next;
    }
    this.#answer.resolve(this.#settledAnswer(open, settled));
    if (left.length === 0) return;
    await clock.pause(DONE_MS, signal);
  }

  #settledAnswer({ from }: OpenChange, channel: number): ChannelAnswer {
    const reverted = channel === from;
    const reason = reverted
      ? `${this.#why ?? 'It was not confirmed'}; both ends are back on channel ${channel}.`
      : null;
    return { channel, frequency_mhz: this.#card.frequency, proved: true, reverted, reason };
  }

  async #notYet({ from, to }: OpenChange, signal: AbortSignal): Promise<ChannelAnswer> {
    const { clock } = this.#options;
    await clock.pause(ANSWER_MS, signal);
    const why = this.#card.problem ?? this.#why ?? 'Nobody has confirmed it';
    return {
      channel: this.#card.on ?? from,
      frequency_mhz: null,
      proved: false,
      reverted: false,
      reason: `${why}. This ground station looks on channels ${from} and ${to} until it meets the drone.`,
    };
  }

  #stillBound(ids: readonly string[]): readonly string[] {
    const bound = new Set(this.#options.bound().map(({ device_id: id }) => id));
    return ids.filter((id) => bound.has(id));
  }

  #silentMs(id: string): number {
    return this.#options.relay.health(id).silentMs ?? Infinity;
  }

  async #forget(): Promise<void> {
    await this.#options.store.remove();
    this.#open = null;
  }
}

function reasonOf(body: unknown, status: number): string {
  const detail = memberOf(body, 'detail') ?? memberOf(body, 'reason');
  return typeof detail === 'string' ? detail : `status ${status}`;
}
