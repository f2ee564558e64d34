import { type LocalPoint, toLocal } from '../../../shared/flight/geo.ts';
import { type Craft, MavSeverity } from './craft.ts';
import type { EscapeModes } from './failsafe.ts';
import type { MissionItem } from './mission.ts';
import type { Modes } from './modes.ts';

/** FENCE_TYPE */
const [ALT_MAX, CIRCLE, POLYGON] = [1, 2, 4];
/** A stored item's command. */
const [INCLUSION, EXCLUSION, CIRCLE_IN, CIRCLE_OUT] = [5001, 5002, 5003, 5004];
/** FENCE_ACTION */
const [REPORT_ONLY, ALWAYS_LAND] = [0, 2];
/** FENCE_BREACH */
const BREACH = { none: 0, maxAlt: 2, boundary: 3 } as const;
const PERIOD_S = 1;
/** Behind a breached fence the next one: 20 m further out. */
const BACKUP_M = 20;
/** Further out than this it lands. */
const GIVE_UP_M = 100;
/** After a change of the mode the pilot may be on the way back. */
const RECOVERY_S = 10;

export interface FenceState {
  readonly enabled: boolean;
  readonly breached: boolean;
  readonly count: number;
  /** FENCE_BREACH */
  readonly type: number;
  /** ms since boot of the first breach under way, or of the last one. */
  readonly breachMs: number;
}

/** ArduCopter's fence: greatest height, circle around home, and the stored polygons and circles. Off unless FENCE_ENABLE is 1. */
export class Fence {
  readonly #craft: Craft;
  readonly #items: () => readonly MissionItem[];
  readonly #modes: Modes;
  readonly #escape: EscapeModes;
  readonly #onBreach: () => void;
  /** By the bit of the fence: how far outside the next breach is. */
  readonly #breaches = new Map<number, number>();
  #count = 0;
  #breachMs = 0;
  #wait = 0;
  #mode: number | undefined;
  #recovery = 0;

  /** @param onBreach called when the first fence is breached: the vehicle tells at once */
  constructor(
    craft: Craft,
    items: () => readonly MissionItem[],
    modes: Modes,
    escape: EscapeModes,
    onBreach: () => void,
  ) {
    this.#onBreach = onBreach;
    this.#craft = craft;
    this.#items = items;
    this.#modes = modes;
    this.#escape = escape;
  }

  reset(): void {
    this.#breaches.clear();
    this.#count = 0;
    this.#breachMs = 0;
    this.#recovery = 0;
  }

  get state(): FenceState {
    const boundary = this.#breaches.has(CIRCLE) || this.#breaches.has(POLYGON);
    return {
      enabled: this.#craft.params.get('FENCE_ENABLE') !== 0,
      breached: this.#breaches.size > 0,
      count: this.#count,
      type: boundary ? BREACH.boundary : this.#breaches.has(ALT_MAX) ? BREACH.maxAlt : BREACH.none,
      breachMs: this.#breachMs,
    };
  }

  /** @param dt simulated seconds */
  tick(dt: number): void {
    this.#wait += dt;
    if (this.#wait < PERIOD_S) return;
    const passed = this.#wait;
    this.#wait = 0;
    if (!this.state.enabled || !this.#craft.positionOk()) {
      this.#breaches.clear();
      return;
    }
    const mode = this.#modes.current.number;
    if (mode !== this.#mode && this.#breaches.size > 0) this.#recovery = RECOVERY_S;
    this.#mode = mode;
    this.#recovery -= passed;
    if (this.#recovery > 0) return;
    const farthest = this.#check();
    if (farthest !== undefined && this.#craft.vehicle.armed) this.#act(farthest);
  }

  /** @returns how far outside a fence it is that it has breached anew, m */
  #check(): number | undefined {
    let farthest: number | undefined;
    const before = this.#breaches.size;
    const types = this.#craft.params.get('FENCE_TYPE');
    for (const [type, outside] of this.#outside()) {
      if ((types & type) === 0 || outside < 0) {
        this.#breaches.delete(type);
        continue;
      }
      if (outside < (this.#breaches.get(type) ?? 0)) continue;
      if (before === 0) this.#breachMs = Math.floor(this.#craft.vehicle.time * 1000);
      this.#breaches.set(type, type === POLYGON ? Infinity : outside + BACKUP_M);
      this.#count++;
      farthest = Math.max(farthest ?? 0, outside);
    }
    if (before === 0 && farthest !== undefined) this.#onBreach();
    return farthest;
  }

  #act(outside: number): void {
    const { vehicle, params } = this.#craft;
    const action = params.get('FENCE_ACTION');
    if (!vehicle.landed) this.#craft.text(MavSeverity.NOTICE, 'Fence Breached');
    if (action === REPORT_ONLY) return;
    if (vehicle.landed) this.#craft.disarm();
    else if (action === ALWAYS_LAND || outside > GIVE_UP_M || !this.#modes.set(this.#escape.rtl))
      this.#modes.set(this.#escape.land);
  }

  /** Metres outside of each fence; negative: inside. */
  #outside(): readonly (readonly [type: number, metres: number])[] {
    const { vehicle, params } = this.#craft;
    const home = toLocal(vehicle.origin, vehicle.home);
    return [
      [ALT_MAX, vehicle.height - params.get('FENCE_ALT_MAX')],
      [CIRCLE, Math.hypot(vehicle.n - home.n, vehicle.e - home.e) - params.get('FENCE_RADIUS')],
      [POLYGON, this.#leavesItems() ? 0 : -1],
    ];
  }

  /** Outside one of the stored inclusions, or inside one of the exclusions. */
  #leavesItems(): boolean {
    const { vehicle } = this.#craft;
    const items = this.#items();
    const local = items.map(({ lat, lon }) => toLocal(vehicle.origin, { lat, lon, alt: 0 }));
    for (let index = 0; index < items.length; ) {
      const item = items[index];
      const at = local[index];
      if (item === undefined || at === undefined) break;
      const polygon = item.command === INCLUSION || item.command === EXCLUSION;
      const length = polygon ? Math.max(1, item.p1) : 1;
      const inside = polygon
        ? isInside(vehicle.position, local.slice(index, index + length))
        : Math.hypot(vehicle.n - at.n, vehicle.e - at.e) <= item.p1;
      if ((item.command === INCLUSION || item.command === CIRCLE_IN) && !inside) return true;
      if ((item.command === EXCLUSION || item.command === CIRCLE_OUT) && inside) return true;
      index += length;
    }
    return false;
  }
}

function isInside({ n, e }: LocalPoint, corners: readonly LocalPoint[]): boolean {
  let inside = false;
  let last = corners.at(-1);
  for (const corner of corners) {
    if (last !== undefined && corner.e > e !== last.e > e) {
      const crossing = corner.n + ((e - corner.e) / (last.e - corner.e)) * (last.n - corner.n);
      if (n < crossing) inside = !inside;
    }
    last = corner;
  }
  return inside;
}
