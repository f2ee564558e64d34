import { setTimeout as delay } from 'node:timers/promises';
import { OWN_ADDRESS, setupUrl } from '../../../shared/auth/address.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readOwn } from '../../../shared/files/private-file.ts';
import { asRecord, parseJson } from '../../../shared/member.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { MachineNetwork, Uplink } from './machine-network.ts';

export interface SetupHotspotDeps {
  /** `setup` is what a person said about the set-up; the residual writes it. */
  readonly paths: Pick<Paths, 'setupHotspot' | 'setup'>;
  /** `network.setup_hotspot` */
  readonly enabled: boolean;
  /** Two letters; null: nobody has said where this machine is. */
  readonly country: string | null;
  readonly port: () => number;
  readonly paired: () => boolean;
  readonly isRadio: (iface: string) => boolean;
  readonly nmcli: MachineNetwork['nmcli'];
  readonly hotspot: Omit<MachineNetwork['hotspot'], 'prepare'>;
  readonly helper: Pick<Helper, 'wifi_on' | 'captive_portal'>;
  /** How many are connected to the hotspot of this card. */
  readonly guests: (iface: string) => Promise<number>;
  readonly bootId: string;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  /** Waits. @throws once the signal is aborted */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

/** How long a machine that has started may take until its network is there. */
const PATIENCE_MS = 60_000;
/** So long no network has to be known: a cable takes a moment after NetworkManager is there. */
const SETTLED_MS = 10_000;
const LOOK_MS = 15_000;
const TICK_MS = 1000;
const NO_GUEST_MS = 15 * 60_000;
/** After the claim: for the rest of the set-up, on the phone that made it. */
const GRACE_MS = 5 * 60_000;
const TRIES = 4;
const OTHERS_WRITE = 0o022;

/** What outlives a restart of this process. */
interface HotspotMemory {
  /** The hotspot of the set-up has ended in this boot of the machine; it comes again with the next. */
  readonly endedIn: string | null;
  /** svc-helper has set up the answer to phones. */
  readonly captive: boolean;
}
const NOTHING: HotspotMemory = { endedIn: null, captive: false };

/**
 * The hotspot of a node that nobody owns yet and that has no other network (docs/first-boot.md): open unless the card named a
 * passphrase; off after 15 min without a guest, until the machine starts again. A hotspot that is open ends once the node is
 * paired, whoever has opened it.
 */
export class SetupHotspot {
  readonly #deps: SetupHotspotDeps;
  #told = '';
  readonly #sleep: NonNullable<SetupHotspotDeps['sleep']>;

  constructor(deps: SetupHotspotDeps) {
    this.#deps = deps;
    this.#sleep =
      deps.sleep ??
      (async (ms, signal) => {
        await delay(ms, undefined, { signal });
      });
  }

  /** Runs until the signal is aborted, and throws then. */
  async run(signal: AbortSignal): Promise<never> {
    const { paired } = this.#deps;
    if (!paired()) await this.#forStrangers(signal);
    for (;;) {
      while (!paired()) await this.#sleep(TICK_MS, signal);
      await this.#forOwner(signal);
      while (paired()) await this.#sleep(TICK_MS, signal);
    }
  }

  async #forStrangers(signal: AbortSignal): Promise<void> {
    const { enabled, bootId, country, hotspot, helper, log, port, paired } = this.#deps;
    const kept = await this.#read();
    const before = kept.captive ? await this.#look(signal) : null;
    if (before?.running === true && !before.enabled) {
      // From before a restart of this process: its guests stay.
      if (enabled) return this.#watch(signal);
      await hotspot.end();
      return this.#ended('network.setup_hotspot is false');
    }
    if (!enabled || kept.endedIn === bootId) return;
    const why = await this.#whyNot(signal);
    if (why !== null) {
      log.info(`first boot: no hotspot for the set-up: ${why}`);
      return;
    }
    if (paired()) return;
    await helper.wifi_on({ country }).catch((error: unknown) => log.warn(`first boot: ${messageOf(error)}`));
    await this.#captive(true);
    try {
      const { ssid, open } = await hotspot.openForSetup();
      const how = open === true ? 'open' : 'with its passphrase';
      log.info(`first boot: join the Wi-Fi ${ssid} (${how}), and open ${setupUrl('hotspot', port())}`);
    } catch (error) {
      log.warn(`first boot: no hotspot for the set-up: ${messageOf(error)}`);
      return this.#captive(false);
    }
    await this.#watch(signal);
  }

  /** @returns in words; null where the hotspot is wanted */
  async #whyNot(signal: AbortSignal): Promise<string | null> {
    const { now, paired } = this.#deps;
    const end = now() + PATIENCE_MS;
    let clearSince: number | null = null;
    for (;;) {
      const seen = await this.#see();
      if (seen.kind === 'no') return seen.why;
      if (paired()) return 'the node is paired by now';
      clearSince = seen.kind === 'clear' ? (clearSince ?? now()) : null;
      if (clearSince !== null && now() - clearSince >= SETTLED_MS) return null;
      if (now() >= end) return seen.kind === 'clear' || seen.why === CONNECTING ? null : seen.why;
      await this.#sleep(TICK_MS * 5, signal);
    }
  }

  async #see(): Promise<{ kind: 'no' | 'wait'; why: string } | { kind: 'clear' }> {
    const { nmcli, hotspot, isRadio } = this.#deps;
    try {
      const [devices, profiles] = [await nmcli.devices(), await nmcli.wifiProfiles()];
      const known = profiles.find((profile) => !profile.hotspot);
      if (known !== undefined) return { kind: 'no', why: `it knows the Wi-Fi network ${known.ssid}` };
      const linked = devices.find((device) => isUplink(device));
      if (linked !== undefined) return { kind: 'no', why: `${linked.name} has an address` };
      if ((await hotspot.look()).enabled) return { kind: 'no', why: 'somebody has switched one on' };
      if (devices.some(({ kind, uuid, connected }) => kind === 'ethernet' && uuid !== null && !connected))
        return { kind: 'wait', why: CONNECTING };
      return devices.some(({ kind, name, managed }) => kind === 'wifi' && managed && !isRadio(name))
        ? { kind: 'clear' }
        : { kind: 'wait', why: 'NetworkManager has no Wi-Fi card' };
    } catch (error) {
      const absent = error instanceof ApiError && error.code === 'E_NOT_IMPLEMENTED';
      return { kind: absent ? 'no' : 'wait', why: messageOf(error) };
    }
  }

  /** Until the node is paired, or the hotspot has ended. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { hotspot, now, paired } = this.#deps;
    let lastGuest = now();
    for (;;) {
      const next = now() + LOOK_MS;
      while (now() < next && !paired()) await this.#sleep(TICK_MS, signal);
      if (paired()) return;
      try {
        const { running, enabled, interface: iface } = await hotspot.look();
        if (running && enabled) return; // somebody wants to keep it
        if (!running || iface === null) return await this.#ended('somebody ended it, or its card is used');
        if (await this.#hasGuests(iface)) lastGuest = now();
        if (now() - lastGuest < NO_GUEST_MS) continue;
        await hotspot.end();
        return await this.#ended('nobody came for 15 minutes; it comes again when the machine starts');
      } catch (error) {
        this.#complain(error);
      }
    }
  }

  /** Who cannot be counted is not there: rather a hotspot that ends than one that stays open. */
  async #hasGuests(iface: string): Promise<boolean> {
    try {
      return (await this.#deps.guests(iface)) > 0;
    } catch (error) {
      this.#complain(error);
      return false;
    }
  }

  #complain(error: unknown): void {
    const words = messageOf(error);
    if (words !== this.#told) this.#deps.log.warn(`hotspot of the set-up: ${words}`);
    this.#told = words;
  }

  async #ended(why: string): Promise<void> {
    this.#deps.log.info(`the hotspot of the set-up has ended: ${why}`);
    await this.#captive(false);
    await this.#write({ endedIn: this.#deps.bootId });
  }

  /** The hotspot of a paired node is not open. */
  async #forOwner(signal: AbortSignal): Promise<void> {
    const { hotspot, now, log } = this.#deps;
    const { captive } = await this.#read();
    const before = await this.#look(signal);
    if (before?.running === true && (before.open === true || !before.enabled || captive)) {
      const end = now() + GRACE_MS;
      do await this.#sleep(LOOK_MS, signal);
      while (now() < end && !(await this.#isSetUp()));
    }
    await this.#captive(false);
    const view = before === null ? null : await this.#look(signal);
    if (view === null) return;
    try {
      if (view.open === true && (view.running || view.enabled)) {
        await hotspot.end();
        log.info('the node is paired, so its open hotspot has ended: `svc network hotspot on --passphrase`');
      } else if (view.running && (!view.enabled || captive)) await hotspot.keep();
    } catch (error) {
      log.error(`hotspot of the set-up: ${messageOf(error)}`);
    }
  }

  /** Null where NetworkManager is not there. */
  async #look(signal: AbortSignal): Promise<Awaited<ReturnType<MachineNetwork['hotspot']['look']>> | null> {
    for (let tries = 0; tries < TRIES; tries++) {
      if (tries > 0) await this.#sleep(LOOK_MS, signal);
      try {
        return await this.#deps.hotspot.look();
      } catch (error) {
        if (error instanceof ApiError && error.code === 'E_NOT_IMPLEMENTED') return null;
        this.#deps.log.debug(`hotspot of the set-up: ${messageOf(error)}`);
      }
    }
    return null;
  }

  async #isSetUp(): Promise<boolean> {
    try {
      const text = await readOwn(this.#deps.paths.setup, OTHERS_WRITE);
      return text !== null && asRecord(parseJson(text))['finished_at'] != null;
    } catch (error) {
      this.#deps.log.debug(`setup: ${messageOf(error)}`); // its own process says so
      return false;
    }
  }

  async #captive(enabled: boolean): Promise<void> {
    const { helper, port, log } = this.#deps;
    if (!enabled && !(await this.#read()).captive) return;
    await this.#write({ captive: true }); // a call that fails may have done a part
    try {
      await helper.captive_portal({ enabled, port: port() });
      if (!enabled) await this.#write({ captive: false });
    } catch (error) {
      log.warn(`first boot: phones do not open the page by themselves: ${messageOf(error)}`);
    }
  }

  async #read(): Promise<HotspotMemory> {
    try {
      const text = await readOwn(this.#deps.paths.setupHotspot, OTHERS_WRITE);
      if (text === null) return NOTHING;
      const { endedIn, captive } = asRecord(parseJson(text));
      return { endedIn: typeof endedIn === 'string' ? endedIn : null, captive: captive === true };
    } catch (error) {
      this.#deps.log.warn(`${this.#deps.paths.setupHotspot}: ${messageOf(error)}`);
      return NOTHING;
    }
  }

  async #write(change: Partial<HotspotMemory>): Promise<void> {
    const { paths } = this.#deps;
    await writeAtomic(paths.setupHotspot, JSON.stringify({ ...(await this.#read()), ...change }), 0o640);
  }
}

const CONNECTING = 'a cable is being connected';

/** It has an address of a network that others provide. */
function isUplink({ kind, addresses }: Uplink): boolean {
  if (!['ethernet', 'gsm', 'cdma'].includes(kind)) return false;
  return addresses.some(
    (address) => !/^(?:169\.254\.|fe80:)/i.test(address) && !address.startsWith(`${OWN_ADDRESS.usb}/`),
  );
}
