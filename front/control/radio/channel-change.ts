import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { memberOf } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { RelayCalls } from '../relay/relay-calls.ts';
import type { BoundRadios } from './bound-radios.ts';
import type { Radio } from './radio.ts';

const PATH = '/api/wfb/channel';
/** From the commit to the switch: long enough that its answer is back before the channel is gone. */
const IN_MS = 600;
const CALL_MS = 2500;
/** How long a drone remembers what it has prepared. */
const PREPARED_MS = 10_000;
/** A drone that answered so recently hears us. */
const HEARD_MS = 10_000;
/** A drone that has not heard data goes back at its deadline; who is heard so long after it has stayed. */
const MARGIN_MS = 1000;

export interface ChannelRequest {
  readonly channel: number;
  readonly phase?: 'prepare' | 'commit';
  readonly id?: string;
  readonly in_ms?: number;
  /** The armed guard of the ground station was overridden; the drone's is then, too. */
  readonly forced?: boolean;
}

export interface ChannelAnswer {
  readonly channel: number;
  readonly frequency_mhz: number | null;
  /** Data was heard on it, or nobody is bound who could be heard. */
  readonly proved: boolean;
  /** It is the channel of before. */
  readonly reverted: boolean;
  /** Why it was not proved or was reverted; null if all is well. */
  readonly reason: string | null;
}

export interface ChannelChangeOptions {
  readonly radio: Pick<Radio, 'channel' | 'tune' | 'keepChannel' | 'onHeard'>;
  readonly radios: Pick<BoundRadios, 'list'>;
  /** A ground station's; null on a drone. */
  readonly relay: (RelayCalls & { health(deviceId: string): { readonly silentMs: number | null } }) | null;
  /** On a drone: since its ground station asked something, ms; null if never. */
  readonly groundSilentMs: () => number | null;
  /** Both channels of a change that is not proved yet. */
  readonly file: string;
  readonly revertMs: number;
  readonly marginMs?: number;
  readonly inMs?: number;
  readonly log: Logger;
}

interface Change {
  readonly from: number;
  readonly to: number;
}

/**
 * The change of the channel, in two phases through the tunnel (docs/contract.md 7.2). Both ends keep the old and the new channel
 * until data was heard; a drone that hears none goes back by itself, and the ground station tries both until it hears the drone.
 */
export class ChannelChange {
  readonly #options: ChannelChangeOptions;
  /** Operators' changes, and the phases of the ground station's. */
  readonly #work = new Serial();
  readonly #phases = new Serial();
  readonly #stopped = new AbortController();
  #prepared: (Change & { readonly id: string; readonly until: number }) | null = null;
  /** The ground station's search, and the drone's switch, which outlive the request. */
  #background: Promise<void> = Promise.resolve();
  #search: AbortController | null = null;

  constructor(options: ChannelChangeOptions) {
    this.#options = options;
  }

  /** A change in the middle of which this process was killed: a drone goes back, a ground station looks on both. */
  async start(): Promise<void> {
    const change = await this.#read();
    if (change === null) return;
    const { relay, log } = this.#options;
    log.warn(`radio: the change from channel ${change.from} to ${change.to} was interrupted`);
    if (relay === null) this.#run(async () => this.#goBack(change));
    else this.#searchOn(change);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#search?.abort();
    await this.#phases.idle();
    await this.#work.idle();
    await this.#background;
  }

  /**
   * @throws ApiError E_RADIO_REFUSED with the reason of whichever end refuses; then both are where they were. E_BUSY during
   *   another change
   */
  async request(request: ChannelRequest): Promise<ChannelAnswer> {
    if (request.phase === 'prepare') return this.#phases.run(async () => this.#prepare(request));
    if (request.phase === 'commit') return this.#phases.run(async () => this.#commit(request));
    return this.#work.run(async () => this.#change(request.channel, request.forced === true));
  }

  async #change(to: number, forced: boolean): Promise<ChannelAnswer> {
    const { radios, relay, groundSilentMs } = this.#options;
    this.#search?.abort();
    const from = await this.#options.radio.channel();
    // Without a card, or a radio at all, it is refused there, with the reason.
    if (from === null) return this.#alone(to, 'There was no channel before.');
    if (from === to) return { channel: to, frequency_mhz: null, proved: true, reverted: false, reason: null };
    const bound = radios.list();
    if (relay === null) {
      const silent = groundSilentMs();
      if (bound.length > 0 && silent !== null && silent < HEARD_MS)
        throw new ApiError(
          'E_RADIO_REFUSED',
          'This drone hears its ground station. Change the channel there; both ends change together.',
        );
      return this.#alone(to, 'No ground station is heard, which could prove it.');
    }
    const heard = bound.filter(({ device_id: id }) => (relay.health(id).silentMs ?? Infinity) < HEARD_MS);
    const lost = bound.filter((each) => !heard.includes(each));
    if (heard.length === 0) return this.#alone(to, 'No drone is heard, which could prove it.');
    if (lost.length > 0)
      throw new ApiError(
        'E_RADIO_REFUSED',
        `${lost.map(({ device_id: id }) => id).join(', ')} is bound and not heard now: it would stay behind on channel ${from}.`,
      );
    return this.#together(
      relay,
      { from, to },
      heard.map(({ device_id: id, slot }) => ({ id, slot })),
      forced,
    );
  }

  async #alone(to: number, reason: string): Promise<ChannelAnswer> {
    const { radio } = this.#options;
    const { frequency_mhz } = await radio.tune(to);
    await radio.keepChannel(to);
    return { channel: to, frequency_mhz, proved: false, reverted: false, reason };
  }

  async #together(
    relay: RelayCalls,
    change: Change,
    drones: readonly { readonly id: string; readonly slot: number }[],
    forced: boolean,
  ): Promise<ChannelAnswer> {
    const { radio, inMs = IN_MS, revertMs, marginMs = MARGIN_MS, log } = this.#options;
    const { from, to } = change;
    const id = randomUUID();
    const ask = async (phase: 'prepare' | 'commit', drone: string): Promise<void> => {
      const body = { channel: to, phase, id, in_ms: inMs, ...(forced ? { force: true } : {}) };
      const answer = await relay.call(drone, { method: 'POST', path: PATH, body, timeoutMs: CALL_MS });
      if (answer.status === 200) return;
      const detail = memberOf(answer.body, 'detail');
      throw new ApiError(
        'E_RADIO_REFUSED',
        `The drone ${drone} refuses: ${typeof detail === 'string' ? detail : `status ${answer.status}`}`,
      );
    };
    for (const drone of drones) await ask('prepare', drone.id);
    await this.#write(change);
    const missed: string[] = [];
    for (const drone of drones)
      await ask('commit', drone.id).catch((error: unknown) => {
        missed.push(`${drone.id}: ${messageOf(error)}`);
      });
    if (missed.length > 0) {
      // It may switch or not; whoever did not hear the commit stays, and whoever switched comes back.
      log.warn(`radio: the commit is not known to have arrived (${missed.join('; ')})`);
      return this.#lookOn(change, `The drone did not confirm: ${missed.join('; ')}`, drones);
    }
    await this.#pause(inMs);
    const at = performance.now();
    try {
      await radio.tune(to);
    } catch (error) {
      return this.#lookOn(change, `This end refused channel ${to}: ${messageOf(error)}`, drones);
    }
    const slots = drones.map(({ slot }) => slot);
    // Heard after the drone's own deadline: it has stayed.
    if (await this.#hears(slots, at + revertMs + marginMs, at + 2 * (revertMs + marginMs)))
      return this.#settle(to, from);
    return this.#lookOn(change, `Nothing was heard on channel ${to}`, drones);
  }

  /** Tries both channels for a while; after that it goes on in the background. */
  async #lookOn(
    change: Change,
    why: string,
    drones: readonly { readonly slot: number }[],
  ): Promise<ChannelAnswer> {
    const slots = drones.map(({ slot }) => slot);
    for (const channel of [change.from, change.to]) {
      if (await this.#tryOne(channel, slots)) {
        const answer = await this.#settle(channel, change.from);
        return answer.reverted
          ? { ...answer, reason: `${why}; both ends are back on channel ${channel}.` }
          : answer;
      }
    }
    this.#searchOn(change);
    return {
      channel: change.from,
      frequency_mhz: null,
      proved: false,
      reverted: false,
      reason: `${why}, nor on channel ${change.from}. This ground station tries both until it hears the drone.`,
    };
  }

  async #tryOne(channel: number, slots: readonly number[]): Promise<boolean> {
    const { radio, revertMs, marginMs = MARGIN_MS, log } = this.#options;
    this.#stopped.signal.throwIfAborted();
    try {
      await radio.tune(channel);
    } catch (error) {
      log.warn(`radio: channel ${channel}: ${messageOf(error)}`);
      return false;
    }
    const at = performance.now();
    return this.#hears(slots, at, at + revertMs + marginMs);
  }

  async #settle(channel: number, from: number): Promise<ChannelAnswer> {
    const { radio, log } = this.#options;
    this.#stopped.signal.throwIfAborted();
    const { frequency_mhz } = await radio.tune(channel);
    await radio.keepChannel(channel);
    await this.#forget();
    log.info(`radio: on channel ${channel}`);
    return { channel, frequency_mhz, proved: true, reverted: channel === from, reason: null };
  }

  #searchOn(change: Change): void {
    const search = new AbortController();
    this.#search = search;
    this.#run(async () => {
      const slots = this.#options.radios.list().map(({ slot }) => slot);
      for (;;)
        for (const channel of [change.from, change.to]) {
          if (search.signal.aborted) return;
          if (await this.#tryOne(channel, slots)) {
            await this.#settle(channel, change.from);
            return;
          }
        }
    });
  }

  async #prepare({ channel, id }: ChannelRequest): Promise<ChannelAnswer> {
    if (id === undefined) throw new ApiError('E_BAD_REQUEST', 'A phase needs its id.');
    if (this.#prepared !== null && this.#prepared.id !== id && performance.now() < this.#prepared.until)
      throw new ApiError('E_BUSY', 'Another change of the channel is under way.');
    const from = await this.#channel();
    this.#prepared = { id, from, to: channel, until: performance.now() + PREPARED_MS };
    return { channel, frequency_mhz: null, proved: false, reverted: false, reason: null };
  }

  async #commit({ channel, id, in_ms: inMs = IN_MS }: ChannelRequest): Promise<ChannelAnswer> {
    const prepared = this.#prepared;
    if (
      prepared === null ||
      prepared.id !== id ||
      prepared.to !== channel ||
      performance.now() > prepared.until
    )
      throw new ApiError('E_RADIO_REFUSED', 'This change was not prepared here, or too long ago.');
    const at = performance.now() + inMs;
    await this.#write(prepared);
    this.#run(async () => {
      await this.#pause(at - performance.now());
      await this.#switch(prepared).finally(() => {
        this.#prepared = null;
      });
    });
    return { channel, frequency_mhz: null, proved: false, reverted: false, reason: null };
  }

  /** A drone: stays if it hears data in time. */
  async #switch(change: Change): Promise<void> {
    const { radio, revertMs } = this.#options;
    try {
      await radio.tune(change.to);
    } catch (error) {
      await this.#forget(); // the card is where it was; the ground station comes back
      throw error;
    }
    const at = performance.now();
    if (await this.#hears([0], at, at + revertMs)) await this.#settle(change.to, change.from);
    else await this.#goBack(change);
  }

  async #goBack({ from, to }: Change): Promise<void> {
    const { radio, log } = this.#options;
    await radio.tune(from);
    await this.#forget();
    log.warn(`radio: nothing was heard on channel ${to}; back on ${from}`);
  }

  /** Whether one of the slots is heard between two moments (monotonic, ms). */
  async #hears(slots: readonly number[], from: number, until: number): Promise<boolean> {
    const { radio } = this.#options;
    if (this.#stopped.signal.aborted) return false;
    return new Promise((resolve) => {
      const end = (heard: boolean): void => {
        clearTimeout(timer);
        forget();
        this.#stopped.signal.removeEventListener('abort', stop);
        resolve(heard);
      };
      const stop = (): void => end(false);
      const timer = setTimeout(() => end(false), Math.max(0, until - performance.now()));
      const forget = radio.onHeard((slot) => {
        if (slots.includes(slot) && performance.now() >= from) end(true);
      });
      this.#stopped.signal.addEventListener('abort', stop);
    });
  }

  /** @throws the abort's reason when the process stops */
  async #pause(ms: number): Promise<void> {
    await sleep(Math.max(0, ms), undefined, { signal: this.#stopped.signal });
  }

  /** What goes on after an answer. What it leaves behind when the process stops is in the file. */
  #run(work: () => Promise<void>): void {
    const before = this.#background;
    this.#background = (async () => {
      await before;
      await work().catch((error: unknown) => {
        if (!this.#stopped.signal.aborted)
          this.#options.log.error(`radio: change of the channel: ${messageOf(error)}`);
      });
    })();
  }

  async #channel(): Promise<number> {
    const channel = await this.#options.radio.channel();
    if (channel === null)
      throw new ApiError('E_RADIO_REFUSED', 'There is no radio card whose channel could be changed.');
    return channel;
  }

  async #write({ from, to }: Change): Promise<void> {
    this.#stopped.signal.throwIfAborted();
    await writeAtomic(this.#options.file, `${JSON.stringify({ from, to })}\n`, 0o600);
  }

  async #forget(): Promise<void> {
    await rm(this.#options.file, { force: true });
  }

  async #read(): Promise<Change | null> {
    const { file, log } = this.#options;
    try {
      const value: unknown = JSON.parse(await readFile(file, 'utf8'));
      const [from, to] = [memberOf(value, 'from'), memberOf(value, 'to')];
      if (typeof from === 'number' && typeof to === 'number') return { from, to };
      log.error(`radio: ${file} is not a change of the channel`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        log.error(`radio: ${file}: ${messageOf(error)}`);
    }
    return null;
  }
}
