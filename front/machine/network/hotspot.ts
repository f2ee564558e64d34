import { randomUUID } from 'node:crypto';
import type { FromSchema } from 'json-schema-to-ts';
import { OWN_ADDRESS } from '../../../shared/auth/address.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { hotspotRequest, hotspot as hotspotView } from '../../../shared/schemas/network.ts';
import type { NetworkProfile } from '../../../shared/schemas/network-operation.ts';
import type { Changes } from './change.ts';
import type { NetworkStore } from './network-store.ts';
import { type Device, type Nmcli, reasonOf, type WifiProfile } from './nmcli.ts';

type HotspotRequest = FromSchema<typeof hotspotRequest>;
export type HotspotView = FromSchema<typeof hotspotView>;

/** The name of its connection. */
const HOTSPOT_ID = 'svc-hotspot';
/** docs/contract/edge.md: first-boot callers come from here. */
const ADDRESS = `${OWN_ADDRESS.hotspot}/24`;
/** IEEE 802.11. */
const MAX_SSID_BYTES = 32;

interface HotspotDeps {
  readonly nmcli: Nmcli;
  readonly helper: Helper;
  readonly changes: Changes;
  readonly store: NetworkStore;
  /** What it is called unless somebody named it. */
  readonly defaultSsid: string;
  readonly isRadio: (iface: string) => boolean;
  /** Whether the node is paired: the hotspot of one that is not may be open. */
  readonly paired: () => boolean;
}

/** The node's own Wi-Fi network: a connection of NetworkManager that gives its guests addresses. */
export class Hotspot {
  readonly #deps: HotspotDeps;

  constructor(deps: HotspotDeps) {
    this.#deps = deps;
  }

  async view(devices: readonly Device[], profiles: readonly WifiProfile[]): Promise<HotspotView> {
    const { store, defaultSsid } = this.#deps;
    const profile = ownOf(profiles);
    const device = devices.find(({ uuid, connected }) => connected && uuid === profile?.uuid);
    return {
      enabled: profile?.autoconnect ?? false,
      running: device !== undefined,
      ssid: profile?.ssid ?? defaultSsid,
      interface: device?.name ?? null,
      address: plain(device?.addresses[0]),
      channel: profile?.channel ?? null,
      open: profile?.open ?? null,
      share_uplink: (await store.read()).share_uplink,
    };
  }

  async set(request: HotspotRequest): Promise<HotspotView> {
    if (request.ssid !== undefined) ssidHex(request.ssid);
    return this.#deps.changes.alone(async () => {
      if (request.enabled) await this.#enable(request, true);
      else await this.disable();
      return this.look();
    });
  }

  async look(): Promise<HotspotView> {
    const { nmcli } = this.#deps;
    return this.view(await nmcli.devices(), await nmcli.wifiProfiles());
  }

  /** Keeps a name and a passphrase (null: none, it is open) for when it is switched on; it does not run yet. */
  async prepare(ssid: string | null, passphrase: string | null): Promise<void> {
    const { nmcli, helper, changes, defaultSsid } = this.#deps;
    await changes.alone(async () => {
      const profiles = await nmcli.wifiProfiles();
      await helper
        .network_profile({
          uuid: randomUUID(),
          id: HOTSPOT_ID,
          kind: 'hotspot',
          interface: await this.#anyCard(),
          autoconnect: false,
          ssid_hex: ssidHex(ssid ?? defaultSsid),
          security: passphrase === null ? 'open' : 'wpa-psk',
          address: ADDRESS,
          ...(passphrase === null ? {} : { passphrase }),
        })
        .catch(upstream);
      for (const { uuid } of profiles.filter(isOwn)) await helper.network_forget({ uuid }).catch(upstream);
    });
  }

  /** Switches it on until somebody ends it: it does not start with the machine. With the passphrase that is kept, or open. */
  async openForSetup(): Promise<HotspotView> {
    return this.#deps.changes.alone(async () => {
      await this.#enable({ enabled: true }, false);
      return this.look();
    });
  }

  /** From now on it starts with the machine. It starts anew, so that it takes over what has changed for its guests. */
  async keep(): Promise<void> {
    const { nmcli, helper, changes } = this.#deps;
    await changes.alone(async () => {
      const own = ownOf(await nmcli.wifiProfiles());
      if (own === undefined || own.device === null) return;
      await helper.network_profile(await this.#again(own, own.device, true)).catch(upstream);
      await changes.bringUp(own.device, own.uuid, own.uuid);
    });
  }

  async end(): Promise<void> {
    await this.#deps.changes.alone(async () => this.disable());
  }

  /** Whether its guests get further than to this node. @returns whether it runs and has taken that over */
  async share(enabled: boolean): Promise<boolean> {
    const { nmcli, helper, changes, store } = this.#deps;
    return changes.alone(async () => {
      const profiles = await nmcli.wifiProfiles();
      await store.write({ share_uplink: enabled });
      const own = ownOf(profiles);
      if (own === undefined) return false;
      const device = (await nmcli.devices()).find(({ uuid, connected }) => connected && uuid === own.uuid);
      await helper
        .network_profile(await this.#again(own, device?.name ?? null, own.autoconnect))
        .catch(upstream);
      if (device === undefined) return false;
      await changes.bringUp(device.name, own.uuid, own.uuid);
      return true;
    });
  }

  /** Ends it, and keeps it from starting with the machine. To be called in `changes.alone`. */
  async disable(): Promise<void> {
    const { nmcli, helper } = this.#deps;
    const own = ownOf(await nmcli.wifiProfiles());
    if (own === undefined) return;
    if (own.autoconnect)
      await helper.network_profile(await this.#again(own, own.device, false)).catch(upstream);
    if (own.device !== null) await helper.network_down({ uuid: own.uuid }).catch(upstream);
  }

  async #enable({ ssid, passphrase, channel }: HotspotRequest, autoconnect: boolean): Promise<void> {
    const { nmcli, helper, changes, store, defaultSsid, isRadio, paired } = this.#deps;
    const [devices, profiles] = [await nmcli.devices(), await nmcli.wifiProfiles()];
    const cards = devices.filter(({ name, kind, managed }) => kind === 'wifi' && managed && !isRadio(name));
    const old = ownOf(profiles);
    // Rather not the card that is connected to another network.
    const card =
      cards.find(({ uuid }) => uuid !== null && uuid === old?.uuid) ??
      cards.find(({ uuid }) => uuid === null) ??
      cards[0];
    if (card === undefined) throw noCard();
    const keeps = passphrase === undefined && old !== undefined && !old.open;
    if (passphrase === undefined && !keeps && paired())
      throw new ApiError('E_INVALID_VALUE', 'The hotspot of a paired node is not open. Send a passphrase.');
    const used = channel ?? old?.channel ?? null;
    const profile: NetworkProfile = {
      uuid: randomUUID(),
      id: HOTSPOT_ID,
      kind: 'hotspot',
      interface: card.name,
      autoconnect,
      ssid_hex: ssidHex(ssid ?? old?.ssid ?? defaultSsid),
      security: passphrase !== undefined || keeps ? 'wpa-psk' : 'open',
      address: ADDRESS,
      share_uplink: (await store.read()).share_uplink,
      ...(passphrase === undefined ? {} : { passphrase }),
      ...(keeps ? { passphrase_of: old.uuid } : {}),
      ...(used === null ? {} : { channel: used }),
    };
    await changes.bringUp(card.name, profile, card.uuid);
    for (const { uuid } of profiles.filter(isOwn)) await helper.network_forget({ uuid }).catch(upstream);
  }

  /** The same connection, written anew. */
  async #again(own: WifiProfile, iface: string | null, autoconnect: boolean): Promise<NetworkProfile> {
    const { store } = this.#deps;
    const card = iface ?? (await this.#anyCard());
    return {
      uuid: own.uuid,
      id: HOTSPOT_ID,
      kind: 'hotspot',
      interface: card,
      autoconnect,
      ssid_hex: ssidHex(own.ssid),
      security: own.open ? 'open' : 'wpa-psk',
      address: ADDRESS,
      share_uplink: (await store.read()).share_uplink,
      ...(own.open ? {} : { passphrase_of: own.uuid }),
      ...(own.channel === null ? {} : { channel: own.channel }),
    };
  }

  async #anyCard(): Promise<string> {
    const { nmcli, isRadio } = this.#deps;
    const card = (await nmcli.devices()).find(({ name, kind }) => kind === 'wifi' && !isRadio(name));
    if (card === undefined) throw noCard();
    return card.name;
  }
}

function isOwn({ hotspot, name }: WifiProfile): boolean {
  return hotspot && name === HOTSPOT_ID;
}

function ownOf(profiles: readonly WifiProfile[]): WifiProfile | undefined {
  return profiles.find(isOwn);
}

/** `SVC-` or `SVC-GS-` and the first four characters of the device's id. */
export function ssidOf(deviceId: string, profile: 'drone' | 'ground-station'): string {
  const part = deviceId
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 4)
    .padEnd(4, '0')
    .toUpperCase();
  return `SVC-${profile === 'ground-station' ? 'GS-' : ''}${part}`;
}

/** @throws ApiError E_INVALID_VALUE if it is too long */
export function ssidHex(ssid: string): string {
  const bytes = Buffer.from(ssid);
  if (bytes.length > MAX_SSID_BYTES)
    throw new ApiError('E_INVALID_VALUE', `The name of a Wi-Fi network has at most ${MAX_SSID_BYTES} bytes.`);
  return bytes.toString('hex');
}

export function noCard(): ApiError {
  return new ApiError(
    'E_NOT_IMPLEMENTED',
    'No free Wi-Fi card. Plug one in; radio cards (radio.cards) do not count.',
    { feature: 'network', missing: 'Wi-Fi card' },
  );
}

/** For `catch` of a call of svc-helper: its error in NetworkManager's words. */
export function upstream(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'E_UPSTREAM') throw error;
  throw new ApiError(error.code, reasonOf(error), error.extras);
}

/** An address without the length of its prefix; null for none. */
export function plain(address: string | undefined): string | null {
  return address?.split('/', 1)[0] ?? null;
}
