import type { UplinkKind } from '../../../shared/config/network.ts';

/** An uplink that is up: it has a default route of its own. */
export interface Uplink {
  /** The kernel's name of the interface that its packets leave by. */
  readonly device: string;
  /** NetworkManager's name of it: another one for a modem. */
  readonly name: string;
  readonly kind: UplinkKind;
  readonly gateway: string;
  /** The kernel's metric of it, without the node's own route. */
  readonly metric: number;
}

/** Consecutive probes without an answer after which an uplink counts as lost. */
const LOST_AFTER = 3;
/** How long a lost one has to answer before it is used again. */
const HOLD_MS = 30_000;
/** One that is lost again within this time has to answer for twice as long, and so on: it must not flap. */
const CALM_MS = 600_000;
const MAX_DOUBLINGS = 4;
/** So long the hub counts as reachable: the probes of uplinks that are not in use are slow. */
const HUB_MS = 25_000;

/** What one probe found: milliseconds, null without an answer; undefined: it was not asked. */
export interface Probe {
  readonly gatewayMs: number | null;
  readonly hubMs?: number | null;
}

interface Health {
  failures: number;
  lost: boolean;
  lostAt: number;
  losses: number;
  /** Since when every probe was answered. */
  goodSince: number | null;
  latencyMs: number | null;
  /** Whether its gateway ever answered: many of carriers do not. */
  gatewayAnswers: boolean;
  measured: boolean;
}

/**
 * Which uplink is used: the first of the order that reaches the hub, or its own gateway where no uplink reaches the hub (it may be the
 * hub that is away). What cannot be measured counts as well. Pure; times are monotonic, ms.
 */
export class UplinkChoice {
  readonly #order: readonly UplinkKind[];
  readonly #health = new Map<string, Health>();
  #hubAt = -Infinity;

  constructor(order: readonly UplinkKind[]) {
    this.#order = order;
  }

  /** @param device one of those that are up; it is forgotten when it goes */
  note(device: string, { gatewayMs, hubMs }: Probe, now: number): void {
    const health = this.#health.get(device) ?? fresh();
    this.#health.set(device, health);
    if (hubMs !== undefined && hubMs !== null) this.#hubAt = now;
    if (gatewayMs !== null) health.gatewayAnswers = true;
    const byHub = hubMs !== undefined && now - this.#hubAt <= HUB_MS;
    const ms = byHub ? hubMs : gatewayMs;
    // A gateway that never said a word says nothing by being silent.
    health.measured = byHub || health.gatewayAnswers;
    if (!health.measured) return;
    health.latencyMs = ms;
    if (ms === null) {
      health.failures++;
      health.goodSince = null;
      if (health.failures >= LOST_AFTER && !health.lost) this.#lose(health, now);
      return;
    }
    health.failures = 0;
    health.goodSince ??= now;
    if (health.lost && now - health.goodSince >= HOLD_MS * 2 ** (health.losses - 1)) health.lost = false;
  }

  /** It was given up by the process before, which is no more to be asked: it has to answer for as long as a lost one. */
  distrust(device: string, now: number): void {
    const health = this.#health.get(device) ?? fresh();
    this.#health.set(device, health);
    this.#lose(health, now);
  }

  #lose(health: Health, now: number): void {
    health.losses = now - health.lostAt > CALM_MS ? 1 : Math.min(health.losses + 1, MAX_DOUBLINGS);
    health.lost = true;
    health.lostAt = now;
  }

  /** Forgets those that are not up any more: they begin anew. */
  keep(devices: ReadonlySet<string>): void {
    for (const device of this.#health.keys()) if (!devices.has(device)) this.#health.delete(device);
  }

  /** Null: not measured. */
  reachable(device: string): boolean | null {
    const health = this.#health.get(device);
    return health?.measured === true ? health.failures === 0 : null;
  }

  latencyMs(device: string): number | null {
    return this.#health.get(device)?.latencyMs ?? null;
  }

  /** Whether it may be lost, so that the others should be asked now. */
  doubtful(device: string): boolean {
    return (this.#health.get(device)?.failures ?? 0) > 0;
  }

  /**
   * @param priority interfaces by NetworkManager's names that come before the order of kinds
   * @param used what is in use, which stays if no other is better
   * @returns null: none of them is for the order
   */
  best(uplinks: readonly Uplink[], priority: readonly string[], used: Uplink | null): Uplink | null {
    const ranked = uplinks
      .filter(({ kind }) => this.#order.includes(kind))
      .toSorted((a, b) => this.#rank(a, priority) - this.#rank(b, priority) || a.metric - b.metric);
    const good = ranked.find(({ device }) => this.#health.get(device)?.lost !== true);
    return good ?? ranked.find(({ device }) => device === used?.device) ?? ranked[0] ?? null;
  }

  #rank({ name, kind }: Uplink, priority: readonly string[]): number {
    const place = priority.indexOf(name);
    return place >= 0 ? place - priority.length : this.#order.indexOf(kind);
  }
}

function fresh(): Health {
  return {
    failures: 0,
    lost: false,
    lostAt: -Infinity,
    losses: 0,
    goodSince: null,
    latencyMs: null,
    gatewayAnswers: false,
    measured: false,
  };
}
