import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { every } from '../../../shared/async/every.ts';
import { within } from '../../../shared/async/within.ts';
import type { UplinkKind } from '../../../shared/config/network.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { runProgram } from '../../../shared/process/run-program.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { UplinkUse } from '../../../shared/rpc/machine.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { uplinkChange } from '../../../shared/schemas/network.ts';
import type { Device, Nmcli } from './nmcli.ts';
import { type Probe, type Uplink, UplinkChoice } from './uplink-choice.ts';

/** Three of them without an answer, and the change, are less than 10 s. */
const TICK_MS = 1500;
/** Of uplinks that are not in use and not metered, of metered ones, and of the only one there is. */
const SLOW_MS = 6000;
const METERED_MS = 15_000;
const PROBE_S = 1;
const PROBE_MS = 2500;
/** NetworkManager is asked again, also if the routes stay the same. */
const DEVICES_MS = 60_000;
const DEVICES_SOON_MS = 3000;
const MAX_LOOKS = 10;
const LOOKUP_MS = 3000;
const LOOKUP_AGAIN_MS = 300_000;
/** What svc-helper gives the route of the uplink that the node chose: before all of NetworkManager's. */
const OWN_METRIC = 5;
const MAX_CHANGES = 50;

/** What can go wrong by itself. */
type Part = 'devices' | 'ping' | 'hub' | 'change';

const KINDS: Readonly<Record<string, UplinkKind>> = {
  ethernet: 'wired',
  wifi: 'wifi',
  gsm: 'modem',
  cdma: 'modem',
};

/** A change of the uplink in use. */
export type UplinkChange = Made<typeof uplinkChange>;

interface UplinksDeps {
  readonly nmcli: Nmcli;
  readonly helper: Helper;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly order: readonly UplinkKind[];
  readonly metered: readonly UplinkKind[];
  /** Interfaces that a person put in an order (the ground station's `priority`). */
  readonly priority: () => Promise<readonly string[]>;
  readonly isRadio: (iface: string) => boolean;
  /** The host of the hub's broker; null: the node is in no fleet. */
  readonly hub: () => string | null;
  /** Told once at the start too, then without a change. */
  readonly onUse: (use: UplinkUse) => void;
  /** Monotonic, ms. */
  readonly monotonic: () => number;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

interface Route {
  readonly device: string;
  readonly gateway: string;
  readonly metric: number;
}

/**
 * Measures which uplinks reach the world, and uses the first of the order that does. A change is one default route that comes before
 * NetworkManager's own: it is there at once, takes no address away (`nmcli device modify` takes a modem's, and asks DHCP anew), goes
 * with its interface, and is gone after a restart of the machine.
 */
export class Uplinks {
  readonly #deps: UplinksDeps;
  readonly #choice: UplinkChoice;
  readonly #probedAt = new Map<string, number>();
  readonly #changes: UplinkChange[] = [];
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #uplinks: readonly Uplink[] = [];
  #used: Uplink | null = null;
  /** What `onUse` was told of. */
  #noted: Uplink | null = null;
  #known = false;
  #devices: readonly Device[] = [];
  #devicesOf = '';
  #devicesAt = -Infinity;
  /** How often NetworkManager was asked about these routes. */
  #looks = 0;
  #hub: { readonly host: string; readonly address: string | null; readonly at: number } | null = null;
  /** What was said of each part, until it is over. */
  readonly #problems = new Map<Part, string>();
  #pings = true;

  constructor(deps: UplinksDeps) {
    this.#deps = deps;
    this.#choice = new UplinkChoice(deps.order);
  }

  start(): void {
    this.#timer = every(TICK_MS, 'uplinks', async () => this.#alone());
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running;
  }

  /** Of an interface, by NetworkManager's name. */
  view(name: string): {
    readonly reachable: boolean | null;
    readonly latency_ms: number | null;
    readonly metered: boolean;
    readonly in_use: boolean;
  } {
    const uplink = this.#uplinks.find((each) => each.name === name);
    return {
      reachable: uplink === undefined ? null : this.#choice.reachable(uplink.device),
      latency_ms: uplink === undefined ? null : this.#choice.latencyMs(uplink.device),
      metered: uplink !== undefined && this.#isMetered(uplink),
      in_use: uplink !== undefined && uplink.device === this.#used?.device,
    };
  }

  /** The newest last. */
  get changes(): readonly UplinkChange[] {
    return this.#changes;
  }

  #isMetered({ kind }: Uplink): boolean {
    return this.#deps.metered.includes(kind);
  }

  async #alone(): Promise<void> {
    if (this.#running !== null) return;
    this.#running = this.#round();
    await this.#running.finally(() => {
      this.#running = null;
    });
  }

  async #round(): Promise<void> {
    const { monotonic } = this.#deps;
    const routes = routesIn(await readFile('/proc/self/net/route', 'utf8'));
    this.#uplinks = await this.#find(routes);
    const present = new Set(this.#uplinks.map(({ device }) => device));
    this.#choice.keep(present);
    for (const device of this.#probedAt.keys()) if (!present.has(device)) this.#probedAt.delete(device);
    const own = routes.find(({ metric }) => metric === OWN_METRIC);
    const first = this.#uplinks.toSorted((a, b) => a.metric - b.metric)[0] ?? null;
    const used = this.#uplinks.find(({ device }) => device === own?.device) ?? first;
    if (!this.#known && own !== undefined)
      for (const { device } of this.#uplinks)
        if (device !== used?.device) this.#choice.distrust(device, monotonic());
    this.#used = used;
    await this.#probe(monotonic());
    await this.#choose(own, first);
    this.#note();
  }

  /** The interfaces with a default route that NetworkManager knows as an uplink. */
  async #find(routes: readonly Route[]): Promise<readonly Uplink[]> {
    const { nmcli, isRadio, monotonic } = this.#deps;
    const natural = routes.filter(({ metric }) => metric !== OWN_METRIC);
    const of = natural.map(({ device, gateway }) => `${device} ${gateway}`).join();
    if (of === '') return [];
    if (of !== this.#devicesOf) this.#looks = 0;
    // The route is there before NetworkManager says that the device is up.
    const sure = natural.every(({ device }) =>
      this.#devices.some(({ connected, carrier }) => connected && carrier === device),
    );
    const pause = sure || this.#looks > MAX_LOOKS ? DEVICES_MS : DEVICES_SOON_MS;
    if (this.#looks === 0 || monotonic() - this.#devicesAt > pause) {
      this.#looks++;
      this.#devicesAt = monotonic();
      this.#devices = await nmcli.devices().then(
        (devices) => {
          this.#problems.delete('devices');
          return devices;
        },
        (error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          // Many machines have no NetworkManager, or another program for the network, and nothing is wrong with them.
          const isAbsent = error.code === 'E_NOT_IMPLEMENTED' || error.code === 'E_UPSTREAM_DOWN';
          this.#tell('devices', error.message, isAbsent ? 'info' : 'warn');
          return [];
        },
      );
      this.#devicesOf = of;
    }
    const found = new Map<string, Uplink>();
    for (const { device, gateway, metric } of natural) {
      const known = this.#devices.find(({ connected, carrier }) => connected && carrier === device);
      const kind = KINDS[known?.kind ?? ''];
      if (known === undefined || kind === undefined || isRadio(known.name)) continue;
      const other = found.get(device);
      if (other === undefined || other.metric > metric)
        found.set(device, { device, name: known.name, kind, gateway, metric });
    }
    return [...found.values()];
  }

  async #probe(now: number): Promise<void> {
    if (!this.#pings || this.#deps.order.length === 0) return;
    const hub = await this.#hubAddress(now);
    const used = this.#used;
    const alarmed = used !== null && this.#choice.doubtful(used.device);
    const due = this.#uplinks.filter((uplink) => {
      const pause = this.#pauseOf(uplink, alarmed);
      return now - (this.#probedAt.get(uplink.device) ?? -Infinity) >= pause - TICK_MS / 2;
    });
    const { monotonic } = this.#deps;
    await Promise.all(
      due.map(async (uplink) => {
        this.#probedAt.set(uplink.device, now);
        const [gatewayMs, hubMs] = await Promise.all([
          this.#ping(uplink.device, uplink.gateway),
          hub === null ? undefined : this.#ping(uplink.device, hub),
        ]);
        const probe: Probe = hubMs === undefined ? { gatewayMs } : { gatewayMs, hubMs };
        if (this.#pings) this.#choice.note(uplink.device, probe, monotonic());
      }),
    );
  }

  #pauseOf(uplink: Uplink, alarmed: boolean): number {
    // With one there is no choice, and a change is not hurried.
    if (this.#uplinks.length < 2) return METERED_MS;
    if (uplink.device === this.#used?.device || alarmed || this.#choice.doubtful(uplink.device))
      return TICK_MS;
    return this.#isMetered(uplink) ? METERED_MS : SLOW_MS;
  }

  /** Milliseconds; null without an answer. */
  async #ping(device: string, address: string): Promise<number | null> {
    const args = ['-n', '-q', '-c', '1', '-W', String(PROBE_S), '-I', device, address];
    try {
      const text = await runProgram('ping', args, PROBE_MS, { env: this.#deps.env });
      return Number(/= ([\d.]+)\//.exec(text)?.[1] ?? 0);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'E_NOT_IMPLEMENTED') {
        this.#pings = false;
        this.#tell('ping', 'ping is missing, so no uplink is measured. Install iputils-ping.');
      }
      return null;
    }
  }

  /** The name of the hub cannot be looked up while the uplink is away: the last answer counts. */
  async #hubAddress(now: number): Promise<string | null> {
    const host = this.#deps.hub();
    if (host === null) return null;
    const known = this.#hub?.host === host ? this.#hub : null;
    if (known !== null && now - known.at < LOOKUP_AGAIN_MS) return known.address;
    try {
      const late = (): Error => new Error(`the name of the hub (${host}) is not found in time`);
      const { address } = await within(lookup(host, 4), LOOKUP_MS, late);
      this.#hub = { host, address, at: now };
      this.#problems.delete('hub');
    } catch (error) {
      this.#tell('hub', messageOf(error));
      this.#hub = { host, address: known?.address ?? null, at: now - LOOKUP_AGAIN_MS + SLOW_MS };
    }
    return this.#hub.address;
  }

  async #choose(own: Route | undefined, first: Uplink | null): Promise<void> {
    const { helper, priority, order } = this.#deps;
    const best = order.length === 0 ? first : this.#choice.best(this.#uplinks, await priority(), this.#used);
    const wanted = best === null || best.device === first?.device ? null : best;
    try {
      if (wanted === null) {
        if (own !== undefined) await helper.uplink_release({});
      } else if (own?.device !== wanted.device || own.gateway !== wanted.gateway)
        await helper.uplink_prefer({ interface: wanted.device, gateway: wanted.gateway });
    } catch (error) {
      this.#tell('change', `the uplink does not change: ${messageOf(error)}`);
      return;
    }
    this.#problems.delete('change');
    this.#used = best ?? first;
  }

  /** Tells what is in use now, if that is another than before. */
  #note(): void {
    const { log, now, onUse } = this.#deps;
    const [before, used] = [this.#noted, this.#used];
    this.#noted = used;
    if (before?.device === used?.device && this.#known) return;
    const metered = used !== null && this.#isMetered(used);
    if (!this.#known) {
      this.#known = true;
      onUse({ metered, change: null });
      return;
    }
    const change: UplinkChange = {
      at: new Date(now()).toISOString(),
      from: before?.name ?? null,
      to: used?.name ?? null,
      reason: this.#reasonOf(before),
    };
    this.#changes.push(change);
    if (this.#changes.length > MAX_CHANGES) this.#changes.shift();
    log.info(`uplink.changed: ${change.from ?? 'none'} -> ${change.to ?? 'none'}: ${change.reason}`, {
      ...change,
    });
    onUse({ metered, change });
  }

  #reasonOf(before: Uplink | null): UplinkChange['reason'] {
    if (before === null || !this.#uplinks.some(({ device }) => device === before.device))
      return before === null ? 'preferred' : 'lost';
    return this.#choice.reachable(before.device) === false ? 'unreachable' : 'preferred';
  }

  /** Once, until it is over or another. */
  #tell(part: Part, problem: string, level: 'info' | 'warn' = 'warn'): void {
    if (problem !== this.#problems.get(part)) this.#deps.log[level](`uplinks: ${problem}`);
    this.#problems.set(part, problem);
  }
}

/** The default routes of IPv4 in /proc/self/net/route (proc_pid_net(5)): addresses are hex, as they lie in a little-endian memory. */
function routesIn(text: string): readonly Route[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line): readonly Route[] => {
      const [device = '', to = '', via = '', flags = '', , , metric = '', mask = ''] = line.split(/\s+/);
      if (to !== '00000000' || mask !== '00000000' || via === '00000000') return [];
      if ((Number.parseInt(flags, 16) & 3) !== 3) return []; // RTF_UP, RTF_GATEWAY
      const gateway = [...Buffer.from(via, 'hex')].toReversed().join('.');
      return [{ device, gateway, metric: Number(metric) }];
    });
}
