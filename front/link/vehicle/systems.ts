import { isAutopilot } from '../../../shared/mavlink/autopilot-heartbeat.ts';
import { decodeHeartbeat } from '../../../shared/mavlink/decode.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { HeardSystem, LinkProblem } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import type { Methods, Part } from '../part.ts';
import type { Vehicle } from './vehicle.ts';

/** More than a line has; the one not heard for the longest time makes room. */
const MAX_SYSTEMS = 64;
/** Another vehicle that was heard within this time is on the link. */
const PRESENT_MS = 30_000;
/** How long a notice stands that another vehicle took the place of the one before. */
const CHANGE_MS = 10 * 60_000;
const FLAG_ARMED = 128;

type SystemEntry = Omit<HeardSystem, 'last_heard_s'> & { readonly at: number };

/** Everybody who has sent a heartbeat from the vehicle's side: vehicles, ground stations, cameras, gimbals. */
export class Systems implements Part {
  readonly methods = { systems: () => this.list } satisfies Methods;
  readonly #clock: Clock;
  readonly #vehicle: Vehicle;
  readonly #payload = new Payload();
  /** By system and component, the newest last. */
  readonly #heard = new Map<number, SystemEntry>();

  /** @param vehicle the chosen one */
  constructor(clock: Clock, vehicle: Vehicle) {
    this.#clock = clock;
    this.#vehicle = vehicle;
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

  /** Other vehicles than the chosen one that were heard within 30 s, by their ids. */
  get others(): readonly number[] {
    const own = this.#vehicle.known?.system;
    const since = this.#clock.now() - PRESENT_MS;
    const present = [...this.#heard.values()].filter((each) => each.vehicle && each.at >= since);
    return [...new Set(present.map(({ system }) => system))]
      .filter((system) => own !== undefined && system !== own)
      .toSorted((a, b) => a - b);
  }

  problems(): LinkProblem[] {
    const { known, changed } = this.#vehicle;
    const { others } = this;
    const found: LinkProblem[] = [];
    if (known !== null && others.length > 0) {
      const detail = `Another vehicle is heard on the link: system ${others.join(', ')}. Commands go to system ${known.system} alone. Set mavlink.system to fly another one.`;
      found.push({ code: 'other_vehicle', detail });
    }
    if (changed !== null && this.#clock.now() - changed.at < CHANGE_MS) {
      const detail = `System ${changed.from} had been silent for 30 s and was disarmed when it was heard last: commands go to system ${changed.to} now.`;
      found.push({ code: 'vehicle_changed', detail });
    }
    return found;
  }
}
