import { randomUUID } from 'node:crypto';
import type { FromSchema } from 'json-schema-to-ts';
import { every } from '../../../shared/async/every.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { type Armed, refusesWhile } from '../../../shared/flight/armed.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { modemRequest, modem as modemView } from '../../../shared/schemas/modem.ts';
import type { NetworkProfile } from '../../../shared/schemas/network-operation.ts';
import type { Changes } from './change.ts';
import { plain, upstream } from './hotspot.ts';
import type { Mmcli, ModemFacts } from './mmcli.ts';
import type { ModemSettings, ModemStore } from './modem-store.ts';
import type { Device, Nmcli, Profile } from './nmcli.ts';

type ModemRequest = FromSchema<typeof modemRequest>;
type ModemView = FromSchema<typeof modemView>;

const LOOK_MS = 15_000;
/** Between two questions of ModemManager to a modem for its signal. */
const SIGNAL_S = 10;
/** Of a SIM as it comes: a last try is the one before it is blocked. */
const LAST_TRY = 1;

interface ModemDeps {
  readonly mmcli: Mmcli;
  readonly nmcli: Nmcli;
  readonly helper: Helper;
  readonly changes: Changes;
  readonly store: ModemStore;
  /** The metric of an interface's routes, if it has a place in the order. */
  readonly metric: (iface: string) => Promise<{ readonly metric?: number }>;
  readonly armed: () => Promise<Armed>;
  readonly log: Logger;
}

/** A modem that can be connected: its names are known. */
type IdentifiedModem = ModemFacts & { readonly identifier: string; readonly port: string };

/**
 * Cellular modems. NetworkManager connects them with a connection of the node's own, without a PIN in it; to unlock a SIM, the
 * connection has one for that moment, and is not one that NetworkManager would connect by itself. So a PIN is tried once, and only
 * by this class. Its functions throw ApiError as mmcli.ts, nmcli.ts, change.ts and modem-store.ts.
 */
export class Modems {
  readonly #deps: ModemDeps;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;

  constructor(deps: ModemDeps) {
    this.#deps = deps;
  }

  /** From now on it unlocks SIMs with PINs that were right before, and has their signal measured. */
  start(): void {
    this.#timer = every(LOOK_MS, 'modems', async () => this.#lookAlone());
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#looking;
  }

  async state(): Promise<{ readonly modems: readonly ModemView[] }> {
    const { mmcli } = this.#deps;
    const [found, settings] = [await mmcli.modems(), await this.#deps.store.all()];
    return { modems: await Promise.all(found.map(async (modem) => this.#view(modem, settings))) };
  }

  /** @throws ApiError E_NOT_FOUND, E_ARMED; E_INVALID_VALUE for a PIN that is wrong, was wrong before, or would be the last try */
  async set(request: ModemRequest): Promise<ModemView> {
    const { changes, store, mmcli } = this.#deps;
    const armed = await this.#deps.armed();
    // The picture and the fleet's connection may go through it, and there is no `force` that could be meant.
    if (refusesWhile(armed)) throw new ApiError('E_ARMED', undefined, { armed });
    return changes.alone(async () => {
      const modem = known(await mmcli.modem(request.id));
      const { enabled, apn, username, password, allow_roaming: roams } = request;
      const before = await store.settings(modem.identifier);
      const settings: ModemSettings = {
        ...before,
        enabled,
        ...(apn === undefined ? {} : { apn }),
        ...(username === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password }),
        ...(roams === undefined ? {} : { allow_roaming: roams }),
      };
      if (enabled) await this.#connect(modem, settings, request.pin, request.last_try === true);
      else await this.#disconnect(modem, settings);
      return this.#view(await mmcli.modem(request.id), await store.all());
    });
  }

  async #disconnect(modem: IdentifiedModem, settings: ModemSettings): Promise<void> {
    const { helper, store } = this.#deps;
    await store.save(modem.identifier, settings);
    for (const { uuid, device, autoconnect } of await this.#own(modem)) {
      if (autoconnect)
        await helper.network_profile(await this.#profile(modem, settings, uuid)).catch(upstream);
      if (device !== null) await helper.network_down({ uuid }).catch(upstream);
    }
    // What somebody else has made of it goes down as well.
    const now = await this.#device(modem);
    if (now?.connected === true) await helper.network_leave({ interface: now.name }).catch(upstream);
  }

  async #connect(
    modem: IdentifiedModem,
    settings: ModemSettings,
    typed: string | undefined,
    last: boolean,
  ): Promise<void> {
    const { helper, changes, store } = this.#deps;
    if (modem.sim === 'absent') throw refused('This modem has no SIM. Nothing was changed.');
    if (modem.sim === 'puk')
      throw refused(
        'The SIM is blocked after too many wrong PINs, and wants its PUK. Unblock it in a phone. Nothing was changed.',
      );
    const card = await this.#card(modem);
    const pin = modem.sim === 'pin' ? await this.#pin(modem, settings, card, typed, last) : undefined;
    const device = await this.#device(modem);
    if (device === undefined)
      throw refused(`NetworkManager does not manage the modem (${modem.port}). Nothing was changed.`);
    const older = await this.#own(modem);
    const uuid = randomUUID();
    if (pin !== undefined) await store.trying(card, pin);
    // A modem that waits for its PIN has nothing to go back to.
    const up = device.connected ? device.uuid : null;
    const accepted: ModemSettings = pin === undefined ? settings : { ...settings, pin, card };
    try {
      await changes.bringUp(device.name, await this.#profile(modem, settings, uuid, pin), up);
    } catch (error) {
      if (pin === undefined) throw error;
      throw await this.#afterPin(modem, accepted, error);
    }
    if (pin !== undefined) {
      await store.wasRight();
      await helper.network_profile(await this.#profile(modem, settings, uuid)).catch(upstream);
    }
    await store.save(modem.identifier, accepted);
    for (const each of older) await helper.network_forget({ uuid: each.uuid }).catch(upstream);
    await this.#measure(modem.id);
  }

  /** The PIN to try now. */
  async #pin(
    { pinTriesLeft: left }: IdentifiedModem,
    settings: ModemSettings,
    card: string,
    typed: string | undefined,
    last: boolean,
  ): Promise<string> {
    const { store } = this.#deps;
    const pin = typed ?? (settings.card === card ? settings.pin : undefined);
    if (pin === undefined) throw wrongPin('The SIM is locked. Send its PIN.', left);
    if (await store.wasTried(card, pin))
      throw wrongPin(
        'The SIM has refused this PIN before, so it is not tried again. Send another one.',
        left,
      );
    if (left !== null && left <= LAST_TRY && !last)
      throw wrongPin(
        left === 0
          ? 'No try is left. Unblock the SIM in a phone.'
          : 'This is the last try before the SIM is blocked and wants its PUK. Send last_try: true if you are sure.',
        left,
      );
    return pin;
  }

  /** What came of a PIN, when the connection did not come up: it may have been right all the same. */
  async #afterPin(modem: IdentifiedModem, accepted: ModemSettings, error: unknown): Promise<unknown> {
    const { mmcli, store } = this.#deps;
    const now = await mmcli.find(modem.id);
    if (now?.identifier !== modem.identifier) return error; // it is gone: nobody knows, and it is not tried again
    if (now.sim === 'pin')
      return wrongPin('The SIM refuses this PIN. It is not tried again; send another one.', now.pinTriesLeft);
    if (now.sim === 'puk') return wrongPin('The SIM refuses this PIN, and is blocked: it wants its PUK.', 0);
    if (now.sim !== 'ready') return error;
    await store.wasRight();
    const before = await store.settings(modem.identifier);
    const { pin, card } = accepted;
    await store.save(modem.identifier, {
      ...(before ?? { enabled: false }),
      ...(pin === undefined || card === undefined ? {} : { pin, card }),
    });
    return error;
  }

  async #lookAlone(): Promise<void> {
    if (this.#looking !== null) return;
    this.#looking = this.#look();
    await this.#looking.finally(() => {
      this.#looking = null;
    });
  }

  /** SIMs lock themselves whenever they lose power. */
  async #look(): Promise<void> {
    const { mmcli, store, changes, log } = this.#deps;
    const all = await store.all();
    if (![...all.values()].some(({ enabled }) => enabled)) return;
    for (const modem of await mmcli.modems()) {
      const settings = all.get(modem.identifier ?? '');
      if (settings?.enabled !== true) continue;
      if (modem.sim === 'ready') await this.#measure(modem.id);
      if (modem.sim !== 'pin' || settings.pin === undefined) continue;
      const one = known(modem);
      const card = await this.#card(one);
      if (settings.card !== card || (await store.wasTried(card, settings.pin))) continue;
      if (modem.pinTriesLeft !== null && modem.pinTriesLeft <= LAST_TRY) continue;
      try {
        await changes.alone(async () => this.#connect(one, settings, undefined, false));
        log.info(`modem ${modem.id}: SIM unlocked`);
      } catch (error) {
        log.warn(`modem ${modem.id}: ${messageOf(error)}`);
      }
    }
  }

  /** ModemManager measures the signal only for who asked it to. */
  async #measure(id: string): Promise<void> {
    const { mmcli, helper, log } = this.#deps;
    try {
      const { refreshS } = await mmcli.signal(id);
      if (refreshS === 0) await helper.modem_signal({ modem: Number(id), seconds: SIGNAL_S });
    } catch (error) {
      log.debug(`modem ${id}: its signal is not measured: ${messageOf(error)}`); // not every modem can
    }
  }

  async #profile(
    { identifier, port }: IdentifiedModem,
    { enabled, apn, username, password, allow_roaming: roams = false }: ModemSettings,
    uuid: string,
    pin?: string,
  ): Promise<NetworkProfile> {
    return {
      uuid,
      id: nameOf(identifier),
      kind: 'modem',
      interface: port,
      autoconnect: enabled && pin === undefined,
      modem: identifier,
      allow_roaming: roams,
      ...(apn === undefined ? {} : { apn }),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(pin === undefined ? {} : { pin }),
      ...(await this.#deps.metric(port)),
    };
  }

  /** The node's own connections for it. */
  async #own({ identifier }: IdentifiedModem): Promise<readonly Profile[]> {
    return (await this.#deps.nmcli.profiles()).filter(({ name }) => name === nameOf(identifier));
  }

  async #device({ port }: IdentifiedModem): Promise<Device | undefined> {
    return (await this.#deps.nmcli.devices()).find(({ name, managed }) => name === port && managed);
  }

  /** Which SIM it is, as far as a locked one says. */
  async #card({ simPath, identifier }: IdentifiedModem): Promise<string> {
    const iccid = simPath === null ? null : await this.#deps.mmcli.iccid(simPath);
    return iccid ?? `in ${identifier}`;
  }

  async #view(modem: ModemFacts, settings: ReadonlyMap<string, ModemSettings>): Promise<ModemView> {
    const { mmcli } = this.#deps;
    const isOn = !['failed', 'locked', 'disabled', 'unknown', 'initializing'].includes(modem.state);
    const signal = isOn ? await orNull(mmcli.signal(modem.id)) : null;
    const bearers = await Promise.all(modem.bearers.map(async (path) => orNull(mmcli.bearer(path))));
    const bearer = bearers.find((each) => each !== null) ?? null;
    const set = settings.get(modem.identifier ?? '');
    return {
      id: modem.id,
      model: modem.model,
      enabled: set?.enabled ?? null,
      state: modem.state,
      operator: modem.operator,
      technology: modem.technology,
      signal_percent: modem.signalPercent,
      rsrp_dbm: signal?.rsrpDbm ?? null,
      rsrq_db: signal?.rsrqDb ?? null,
      sinr_db: signal?.sinrDb ?? null,
      apn: bearer?.apn ?? null,
      // With DHCP only NetworkManager knows.
      ip: bearer === null ? null : (bearer.ip ?? (await this.#address(modem.port))),
      sim: modem.sim,
      pin_tries_left: modem.sim === 'pin' || modem.sim === 'puk' ? modem.pinTriesLeft : null,
      roaming: modem.roaming,
      allow_roaming: set === undefined ? null : (set.allow_roaming ?? false),
      rx_bytes: bearer?.rxBytes ?? null,
      tx_bytes: bearer?.txBytes ?? null,
    };
  }

  async #address(port: string | null): Promise<string | null> {
    const devices = await orNull(this.#deps.nmcli.devices());
    return plain(devices?.find(({ name }) => name === port)?.addresses[0]);
  }
}

function nameOf(identifier: string): string {
  return `svc-modem-${identifier.slice(0, 40)}`;
}

function known(modem: ModemFacts): IdentifiedModem {
  const { identifier, port } = modem;
  if (identifier === null || port === null)
    throw refused(
      'ModemManager does not know yet which modem this is. Try again shortly. Nothing was changed.',
    );
  return { ...modem, identifier, port };
}

function refused(message: string): ApiError {
  return new ApiError('E_UPSTREAM', message, { reverted: true });
}

function wrongPin(message: string, left: number | null): ApiError {
  return new ApiError('E_INVALID_VALUE', message, {
    pin_tries_left: left,
    errors: [{ path: '/pin', message }],
  });
}

/** What one modem does not say is not measured; the others are shown all the same. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof ApiError) return null;
    throw error;
  });
}
