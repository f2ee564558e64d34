import { TokenBucket } from '../../shared/async/token-bucket.ts';
import type { JsonObject } from '../../shared/member.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import type { NewEvent } from './event-queue.ts';

/** MAV_SEVERITY: warnings and worse. */
const WARNING = 4;
/** Equal texts of the vehicle within this time are one event. */
const SAME_TEXT_MS = 10_000;
/** A vehicle whose mode flaps, or that talks without end, must not fill the queue. */
const CHANGES = { perSecond: 1, burst: 10 } as const;
const TEXTS = { perSecond: 0.2, burst: 20 } as const;
const MAX_TEXTS = 64;

/** What was told last, so that a new process does not tell it again. */
interface ToldVehicle {
  readonly alive: boolean;
  readonly armed: boolean;
  readonly mode: string | null;
  /** ISO 8601, of the newest text of the vehicle. */
  readonly textAt: string;
  /** ISO 8601, of the newest change of the vehicle; null: none was told. */
  readonly changedAt: string | null;
  /** Other vehicles that were told and have not left. */
  readonly others: readonly number[];
}

const NOTHING: ToldVehicle = {
  alive: false,
  armed: false,
  mode: null,
  textAt: '',
  changedAt: null,
  others: [],
};

interface VehicleEventsOptions {
  /** Names this start of the node. */
  readonly run: string;
  /** As it was given to `append`; null: never. */
  readonly kept: string | null;
  /** @param kept what a later process needs to go on */
  readonly append: (events: readonly NewEvent[], kept: string) => void;
  /** Armed, mode or link has changed. */
  readonly onChange: () => void;
  /** Wall clock, ms since 1970. */
  readonly wall: () => number;
  /** Monotonic, ms. */
  readonly now: () => number;
}

/** Makes events of the states of svc-link: what changed, and what the vehicle says with a severity of warning or worse. */
export class VehicleEvents {
  readonly #options: VehicleEventsOptions;
  readonly #changes: TokenBucket;
  readonly #texts: TokenBucket;
  /** By severity and text: until when, and how often since it was told. */
  readonly #same = new Map<string, { readonly until: number; count: number }>();
  #omitted = 0;
  /** The texts of the state before; null: there was none in this process. */
  #known: ReadonlySet<string> | null = null;
  #told: ToldVehicle = NOTHING;
  #key = '';

  constructor(options: VehicleEventsOptions) {
    this.#options = options;
    this.#changes = new TokenBucket(CHANGES, options.now());
    this.#texts = new TokenBucket(TEXTS, options.now());
    const before = parse(options.kept);
    if (before?.run === options.run) this.#told = { ...NOTHING, ...before.told };
    else this.#append([this.#event('node.started', {})]);
  }

  /** @param state null: svc-link is away, so nobody hears the vehicle */
  see(state: LinkState | null): void {
    const alive = state?.mavlink_alive ?? false;
    const armed = state?.armed ?? 'unknown';
    const mode = state?.telemetry.mode ?? null;
    const key = `${alive} ${armed} ${mode}`;
    if (key !== this.#key) {
      this.#key = key;
      this.#options.onChange();
    }
    const events = [
      ...this.#othersIn(state),
      ...this.#changesIn(alive, armed, mode, state),
      ...this.#textsOf(state),
      ...this.#ended(),
    ];
    if (events.length > 0) this.#append(events);
  }

  /** Another vehicle on the link, or in the place of the one before. */
  #othersIn(state: LinkState | null): readonly NewEvent[] {
    if (state === null) return [];
    const { changedAt, others } = this.#told;
    const { vehicle_changed: change, other_vehicles: present } = state;
    const fresh = present.filter((system) => !others.includes(system));
    const isChanged = change !== null && change.at !== changedAt;
    if (fresh.length === 0 && !isChanged) {
      if (present.length < others.length) this.#told = { ...this.#told, others: present };
      return [];
    }
    if (!this.#changes.take(this.#options.now())) return [];
    this.#told = { ...this.#told, others: present, changedAt: change?.at ?? changedAt };
    const events = fresh.map((system) => this.#event('vehicle.other', { severity: WARNING, system }));
    if (isChanged) {
      const { from, to } = change;
      events.push(this.#event('vehicle.changed', { severity: WARNING, from, to }));
    }
    return events;
  }

  #changesIn(
    alive: boolean,
    armed: boolean | 'unknown',
    mode: string | null,
    state: LinkState | null,
  ): readonly NewEvent[] {
    const told = this.#told;
    const changed =
      alive !== told.alive ||
      (alive && typeof armed === 'boolean' && armed !== told.armed) ||
      (alive && mode !== null && mode !== told.mode);
    if (!changed || !this.#changes.take(this.#options.now())) return [];
    const events: NewEvent[] = [];
    if (alive !== told.alive) {
      const firmware = {
        firmware: state?.firmware ?? null,
        firmware_version: state?.firmware_version ?? null,
      };
      events.push(
        alive
          ? this.#event('vehicle.connected', { ...firmware, system_id: state?.system_id ?? null })
          : this.#event('vehicle.lost', { armed: told.armed, svc_link: state !== null }),
      );
    }
    this.#told = { ...told, alive };
    if (!alive) return events;
    if (typeof armed === 'boolean' && armed !== told.armed)
      events.push(this.#event(armed ? 'vehicle.armed' : 'vehicle.disarmed', { mode }));
    if (mode !== null && mode !== told.mode)
      events.push(this.#event('vehicle.mode', { mode, from: told.mode }));
    this.#told = {
      ...this.#told,
      armed: typeof armed === 'boolean' ? armed : told.armed,
      mode: mode ?? told.mode,
    };
    return events;
  }

  #textsOf(state: LinkState | null): readonly NewEvent[] {
    if (state === null) return [];
    // By what was there before, not by the time: the clock may be set back.
    const known = this.#known;
    const fresh = state.statustext.filter((text) =>
      known === null ? text.at > this.#told.textAt : !known.has(nameOf(text)),
    );
    this.#known = new Set(state.statustext.map(nameOf));
    const newest = fresh.at(-1);
    if (newest === undefined) return [];
    this.#told = { ...this.#told, textAt: newest.at };
    const now = this.#options.now();
    return fresh
      .filter(({ severity }) => severity <= WARNING)
      .flatMap(({ severity, text }) => {
        const key = `${severity} ${text}`;
        const same = this.#same.get(key);
        if (same !== undefined && now < same.until) {
          same.count++;
          return [];
        }
        if (this.#same.size >= MAX_TEXTS || !this.#texts.take(now)) {
          this.#omitted++;
          return [];
        }
        this.#same.set(key, { until: now + SAME_TEXT_MS, count: 0 });
        return [this.#event('vehicle.message', { severity, text, count: 1 })];
      });
  }

  /** Repeats whose time is over, and what was left out before there was room for a text again. */
  #ended(): readonly NewEvent[] {
    const now = this.#options.now();
    const events: NewEvent[] = [];
    for (const [key, { until, count }] of this.#same) {
      if (now < until) continue;
      this.#same.delete(key);
      const [severity = '', ...text] = key.split(' ');
      if (count > 0)
        events.push(
          this.#event('vehicle.message', { severity: Number(severity), text: text.join(' '), count }),
        );
    }
    if (this.#omitted > 0 && this.#texts.take(now)) {
      events.push(this.#event('vehicle.messages_omitted', { count: this.#omitted }));
      this.#omitted = 0;
    }
    return events;
  }

  #event(kind: string, detail: JsonObject): NewEvent {
    return { at: this.#options.wall(), kind, detail };
  }

  #append(events: readonly NewEvent[]): void {
    this.#options.append(events, JSON.stringify({ run: this.#options.run, told: this.#told }));
  }
}

/** As this class has written it; null: nothing, or of another version. */
function parse(kept: string | null): { readonly run: string; readonly told: ToldVehicle } | null {
  if (kept === null) return null;
  const { run, told }: Partial<{ run: string; told: ToldVehicle }> = JSON.parse(kept);
  return typeof run === 'string' && typeof told === 'object' ? { run, told } : null;
}

function nameOf({ at, severity, text }: LinkState['statustext'][number]): string {
  return `${at} ${severity} ${text}`;
}
