import { cpus, loadavg } from 'node:os';
import { every } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Metric } from '../../../shared/metrics.ts';
import type { LinkState } from '../../../shared/rpc/link-state.ts';
import type { LinkConnection } from '../link-connection.ts';
import { FLIGHT_FILE, type FlightFiles } from './flight-files.ts';
import type { LogStore } from './log-store.ts';
import type { Telling } from './telling.ts';

const SAMPLE_MS = 1000;
/** Samples that are written at once: what is in memory is lost if this process is killed. */
const BATCH = 10;
/** Samples per write while there is no vehicle: a write every second would wear out the SD card for nothing. */
const IDLE_SAMPLES = 300;
const FRESH_MS = 3000;
/** A telemetry log has its name a second after arming, and a flight may be shorter. */
const FILES_MS = 5000;
const MOST_FILES = 100;

const SOURCE = 'svc-residual';
const SEVERITY = { info: 2, warn: 3 } as const;

interface FlightRecorderOptions {
  readonly link: Pick<LinkConnection, 'follow'>;
  readonly store: LogStore;
  readonly recording: FlightFiles['recording'];
  readonly log: Telling;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

/**
 * Writes metrics of the vehicle and of this machine once a second while a vehicle is heard, opens a flight session when it arms
 * and closes it when it disarms, and stores as events what changes on the link and which files the flight has.
 */
export class FlightRecorder {
  readonly #options: FlightRecorderOptions;
  #unfollow: (() => void) | null = null;
  #state: LinkState | null = null;
  #stateAt = -Infinity;
  #armed = false;
  /** The newest flight, and until when files that are written are its own. */
  #flight: { readonly session: number | null; readonly files: Set<string>; until: number } | null = null;
  /** Null until the store was asked: a restart of this process connects nothing. */
  #alive: boolean | null = null;
  /** The newest change of the vehicle that is stored; undefined before the first state, whose change an earlier process has stored. */
  #changedAt: string | null | undefined;
  /** The same of the change of its mode. */
  #modeAt: string | null | undefined;
  /** What of its failsafe and fence is stored; null: nothing is known yet. */
  #failsafe: string | null = null;
  #breached: boolean | null = null;
  /** Other vehicles on the link that are stored and have not left. */
  #others: readonly number[] = [];
  #timer: NodeJS.Timeout | null = null;
  #ticks = 0;
  #samples = 0;
  #failed = false;
  #unwritten = false;
  #first = true;

  constructor(options: FlightRecorderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unfollow = this.#options.link.follow({ state: (state) => this.#onState(state) });
    this.#timer = every(SAMPLE_MS, 'flight recorder', () => this.#tick());
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#unfollow?.();
    this.flush();
  }

  /** Stores the samples that wait. While that fails they are kept for a while; this is logged once. */
  flush(): void {
    const { store, log } = this.#options;
    try {
      store.flush();
      this.#unwritten = false;
    } catch (error) {
      if (!this.#unwritten) log.error(`recorder: ${messageOf(error)}`);
      this.#unwritten = true;
    }
  }

  #onState(state: LinkState): void {
    this.#state = state;
    this.#stateAt = this.#options.now();
    this.#guarded(() => {
      this.#follow(state);
      this.#followOthers(state);
      this.#followMode(state);
      this.#followFailsafe(state);
      this.#noteFiles(state);
    });
  }

  #follow(state: LinkState): void {
    this.#followArming(state);
    // Only the first armed state can belong to a flight that began before this process.
    if (state.armed !== 'unknown' && state.heard) this.#first = false;
    const { store } = this.#options;
    this.#alive ??= store.newestOf(['fc_connected', 'fc_lost']) === 'fc_connected';
    if (state.mavlink_alive !== this.#alive) {
      this.#alive = state.mavlink_alive;
      if (this.#alive) store.event('fc_connected', 'svc-link', SEVERITY.info, { port: state.fc_port });
      else store.event('fc_lost', 'svc-link', SEVERITY.warn, { heartbeat_age_s: state.heartbeat_age_s });
    }
  }

  /** Another vehicle on the link, or in the place of the one before. */
  #followOthers({ vehicle_changed: change, other_vehicles: others }: LinkState): void {
    const { store } = this.#options;
    for (const system of others)
      if (!this.#others.includes(system)) store.event('other_vehicle', 'svc-link', SEVERITY.warn, { system });
    this.#others = others;
    const at = change?.at ?? null;
    if (change !== null && this.#changedAt !== undefined && this.#changedAt !== at) {
      const { from, to } = change;
      store.event('vehicle_changed', 'svc-link', SEVERITY.warn, { from, to });
    }
    this.#changedAt = at;
  }

  #followMode({ mode_changed: change }: LinkState): void {
    const at = change?.at ?? null;
    if (change !== null && this.#modeAt !== undefined && this.#modeAt !== at) {
      const { from, to, by } = change;
      const severity = by === 'failsafe' ? SEVERITY.warn : SEVERITY.info;
      this.#options.store.event('mode_changed', 'svc-link', severity, { from, to, by });
    }
    this.#modeAt = at;
  }

  /** A failsafe that begins, gets another reason, or ends; a fence that is crossed, and crossed back. */
  #followFailsafe({ telemetry }: LinkState): void {
    const { store } = this.#options;
    const { failsafe, fence, mode } = telemetry;
    if (failsafe.active !== null) {
      const key = failsafe.active ? failsafe.reasons.join() : '';
      const before = this.#failsafe;
      this.#failsafe = failsafe.active ? `on ${key}` : '';
      if (failsafe.active && before !== null && before !== this.#failsafe)
        store.event('failsafe', 'svc-link', SEVERITY.warn, { active: true, reasons: failsafe.reasons, mode });
      else if (!failsafe.active && before !== null && before !== '')
        store.event('failsafe', 'svc-link', SEVERITY.info, { active: false, reasons: [], mode });
    }
    if (fence === null) return;
    const was = this.#breached;
    this.#breached = fence.breached;
    if (was === fence.breached || (was === null && !fence.breached)) return;
    const severity = fence.breached ? SEVERITY.warn : SEVERITY.info;
    store.event('fence_breach', 'svc-link', severity, { ...fence });
  }

  #followArming(state: LinkState): void {
    const { store } = this.#options;
    if (!state.heard) return;
    // `unknown` does not end a flight: the vehicle may be in the air, out of radio range.
    if (state.armed === true && !this.#armed) {
      this.#armed = true;
      if (!(this.#first && store.resumeFlight())) {
        store.beginSession('flight', 'armed', { simulated: state.simulated, firmware: state.firmware });
        store.event('armed', 'svc-link', SEVERITY.info, { mode: state.telemetry.mode });
      }
      this.#flight = { session: store.session, files: new Set(), until: Infinity };
    } else if (state.armed === false && (this.#armed || (this.#first && store.resumeFlight()))) {
      this.#armed = false;
      store.event('disarmed', 'svc-link', SEVERITY.info);
      store.endSession('flight');
      if (this.#flight !== null) this.#flight.until = this.#options.now() + FILES_MS;
    }
  }

  #noteFiles({ tlog }: LinkState): void {
    const { store, recording, now } = this.#options;
    const flight = this.#flight;
    if (flight === null || now() > flight.until) return;
    const written = [
      ...(tlog.name === null ? [] : [{ kind: 'tlog', name: tlog.name }]),
      ...recording().map((name) => ({ kind: 'recording', name })),
    ];
    for (const { kind, name } of written) {
      if (flight.files.has(name) || flight.files.size >= MOST_FILES) continue;
      flight.files.add(name);
      store.event(FLIGHT_FILE, SOURCE, SEVERITY.info, { kind, name }, flight.session);
    }
  }

  #tick(): void {
    this.#sample();
    if (++this.#ticks % BATCH === 0) this.flush();
  }

  #sample(): void {
    const state = this.#options.now() - this.#stateAt <= FRESH_MS ? this.#state : null;
    const live = state?.mavlink_alive === true;
    if (!live && this.#samples++ % IDLE_SAMPLES !== 0) return;
    const values: Partial<Record<Metric, number | null>> = {
      'node.load': (loadavg()[0] ?? 0) / cpus().length,
      'node.memory_mb': Math.round(process.memoryUsage.rss() / 1048576),
    };
    if (live) Object.assign(values, vehicleMetrics(state));
    const known = Object.entries(values).filter((entry): entry is [string, number] => entry[1] !== null);
    this.#options.store.metrics(Object.fromEntries(known));
  }

  /** While the store cannot be written, records are lost; this is logged once. */
  #guarded(work: () => void): void {
    try {
      work();
      this.#failed = false;
    } catch (error) {
      if (!this.#failed) this.#options.log.error(`recorder: ${messageOf(error)}`);
      this.#failed = true;
    }
  }
}

function vehicleMetrics(
  state: LinkState,
): Readonly<Record<Exclude<Metric, `node.${string}`>, number | null>> {
  const { telemetry, counters } = state;
  return {
    'battery.voltage': telemetry.battery.voltage,
    'battery.current': telemetry.battery.current,
    'battery.remaining': telemetry.battery.remaining,
    'gps.satellites': telemetry.gps.satellites,
    'position.alt_rel': telemetry.position.alt_rel,
    'velocity.groundspeed': telemetry.velocity.groundspeed,
    'link.rx_lost': counters.rx_lost,
    'link.rx_bad_crc': counters.rx_bad_crc,
    'rc.rssi': telemetry.rc.rssi,
  };
}
