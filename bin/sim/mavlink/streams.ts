import type { Params } from '../params/params.ts';
import type { Channel } from './channel.ts';
import type { Sender } from './telemetry.ts';
import type { TelemetryView } from './telemetry-view.ts';

/** Messages whose rate one parameter holds. */
interface StreamGroup {
  /** MAV_DATA_STREAM. */
  readonly stream: number;
  /** The parameter that holds its rate in Hz. */
  readonly param: string;
  readonly messages: readonly number[];
}

/** What a firmware sends unasked. */
export interface StreamPlan {
  /** What REQUEST_DATA_STREAM sets; empty where the firmware does not know that message. */
  readonly groups: readonly StreamGroup[];
  /** Fixed rates in Hz by message id, until SET_MESSAGE_INTERVAL says otherwise. */
  readonly hz: ReadonlyMap<number, number>;
  /** Sent at the rate in `hz` and at each change, and known to no command about messages: they are no streams in PX4. */
  readonly fixed: ReadonlySet<number>;
}

const HEARTBEAT = 0;
const MAX_HZ = 50;

/** What a firmware sends, and how. */
export interface StreamDialect {
  readonly streams: StreamPlan;
  readonly senders: ReadonlyMap<number, Sender>;
}

/** Which message goes out when. Rates are wall-clock: a faster simulation must not flood the link. */
export class Streams {
  readonly #channel: Channel;
  readonly #params: Params;
  readonly #view: TelemetryView;
  readonly #plan: StreamPlan;
  readonly #senders: ReadonlyMap<number, Sender>;
  readonly #groupOf: ReadonlyMap<number, StreamGroup>;
  /** MAV_CMD_SET_MESSAGE_INTERVAL: ms, -1 for off. */
  readonly #intervals = new Map<number, number>();
  readonly #sent = new Map<number, number>();
  /** What REQUEST_DATA_STREAM overwrote: ArduPilot does not save its change, so a reboot brings these back. */
  readonly #saved = new Map<string, number>();

  constructor(channel: Channel, params: Params, view: TelemetryView, { streams, senders }: StreamDialect) {
    this.#plan = streams;
    this.#senders = senders;
    this.#groupOf = new Map(
      streams.groups.flatMap((group) => group.messages.map((id) => [id, group] as const)),
    );
    this.#channel = channel;
    this.#params = params;
    this.#view = view;
  }

  /** As after boot: only the heartbeat and what the SR0 parameters ask for. */
  reset(): void {
    this.#intervals.clear();
    this.#sent.clear();
    for (const [name, hz] of this.#saved) this.#params.set(name, hz);
    this.#saved.clear();
  }

  /** REQUEST_DATA_STREAM; 0 stands for all. Like ArduPilot it writes the rate into the SR0 parameters. */
  request(stream: number, hz: number, start: boolean): void {
    for (const group of this.#plan.groups) {
      if (stream !== 0 && stream !== group.stream) continue;
      if (!this.#saved.has(group.param)) this.#saved.set(group.param, this.#params.get(group.param));
      this.#params.set(group.param, start ? hz : 0);
    }
  }

  /** @param intervalUs microseconds; -1 off, 0 back to the default @returns false for a message that is not known */
  setInterval(id: number, intervalUs: number): boolean {
    if (!this.#knows(id) || !Number.isFinite(intervalUs)) return false;
    if (intervalUs === 0) this.#intervals.delete(id);
    else this.#intervals.set(id, intervalUs < 0 ? -1 : Math.max(1000 / MAX_HZ, intervalUs / 1000));
    return true;
  }

  /** Microseconds between two, -1 off; undefined for a message that is not known. */
  interval(id: number): number | undefined {
    if (!this.#knows(id)) return undefined;
    const ms = this.#everyMs(id);
    return ms === undefined ? -1 : Math.round(ms * 1000);
  }

  /** @returns false for a message that is not known */
  sendNow(id: number): boolean {
    const send = this.#senders.get(id);
    send?.(this.#channel, this.#view);
    return send !== undefined;
  }

  /** Sends what is due. @param now wall clock, ms @returns ms until the next one is due */
  tick(now: number): number {
    let next = 1000;
    for (const id of this.#senders.keys()) {
      const every = this.#everyMs(id);
      if (every === undefined) continue;
      const last = this.#sent.get(id) ?? -Infinity;
      let wait = last + every - now;
      if (wait <= 1) {
        this.sendNow(id);
        // On its own grid while it keeps up, so that a coarse tick does not lower the rate.
        this.#sent.set(id, wait > -every ? last + every : now);
        wait = every;
      }
      next = Math.min(next, wait);
    }
    return next;
  }

  #knows(id: number): boolean {
    return this.#senders.has(id) && !this.#plan.fixed.has(id);
  }

  #everyMs(id: number): number | undefined {
    const own = this.#intervals.get(id);
    if (own !== undefined) return own < 0 ? undefined : own;
    if (id === HEARTBEAT) return 1000;
    const group = this.#groupOf.get(id);
    const hz = group === undefined ? (this.#plan.hz.get(id) ?? 0) : this.#params.get(group.param);
    return hz > 0 ? 1000 / Math.min(MAX_HZ, hz) : undefined;
  }
}
