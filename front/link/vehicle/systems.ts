import { isAutopilot } from '../../../shared/mavlink/autopilot-heartbeat.ts';
import { decodeHeartbeat } from '../../../shared/mavlink/decode.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { HeardSystem } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';

/** More than a line has; the one not heard for the longest time makes room. */
const MAX_SYSTEMS = 64;
/** Another vehicle that was heard within this time is on the link. */
const PRESENT_MS = 30_000;
const FLAG_ARMED = 128;

type SystemEntry = Omit<HeardSystem, 'last_heard_s'> & { readonly at: number };

/** Everybody who has sent a heartbeat from the vehicle's side: vehicles, ground stations, cameras, gimbals. */
export class Systems {
  readonly #clock: Clock;
  readonly #payload = new Payload();
  /** By system and component, the newest last. */
  readonly #heard = new Map<number, SystemEntry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A frame from the source. */
  onFrame(frame: Frame): void {
    if (frame.id !== MSG.HEARTBEAT || !frame.known) return;
    const { system, component } = frame;
    const heartbeat = decodeHeartbeat(this.#payload.load(frame));
    const { type, autopilot, baseMode } = heartbeat;
    const vehicle = isAutopilot(heartbeat, component);
    const armed = vehicle ? (baseMode & FLAG_ARMED) !== 0 : null;
    const key = (system << 8) | component;
    this.#heard.delete(key);
    this.#heard.set(key, { system, component, type, autopilot, vehicle, armed, at: this.#clock.now() });
    if (this.#heard.size <= MAX_SYSTEMS) return;
    const [oldest] = this.#heard.keys();
    if (oldest !== undefined) this.#heard.delete(oldest);
  }

  get list(): HeardSystem[] {
    const now = this.#clock.now();
    return [...this.#heard.values()]
      .map(({ at, ...heard }) => ({ ...heard, last_heard_s: Math.round(now - at) / 1000 }))
      .toSorted((a, b) => a.system - b.system || a.component - b.component);
  }

  /** Other vehicles that were heard within 30 s, by their ids. @param own the chosen one */
  others(own: number | null): readonly number[] {
    const since = this.#clock.now() - PRESENT_MS;
    const present = [...this.#heard.values()].filter((each) => each.vehicle && each.at >= since);
    return [...new Set(present.map(({ system }) => system))]
      .filter((system) => own !== null && system !== own)
      .toSorted((a, b) => a - b);
  }
}
