import { randomUUID } from 'node:crypto';
import type { FromSchema } from 'json-schema-to-ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { NetworkProfile } from '../../../shared/rpc/network-operation.ts';
import type { hotspotRequest, hotspot as hotspotView } from '../../../shared/schemas/network.ts';
import type { Changes } from './change.ts';
import type { NetworkStore } from './network-store.ts';
import { type Device, type Nmcli, reasonOf, type WifiProfile } from './nmcli.ts';

type HotspotRequest = FromSchema<typeof hotspotRequest>;
export type HotspotView = FromSchema<typeof hotspotView>;

/** The name of its connection. */
const HOTSPOT_ID = 'svc-hotspot';
/** docs/contract.md 4: first-boot callers come from here. */
const ADDRESS = '192.168.4.1/24';
/** IEEE 802.11. */
const MAX_SSID_BYTES = 32;

export interface HotspotDeps {
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
    const { nmcli, changes } = this.#deps;
    if (request.ssid !== undefined) ssidHex(request.ssid);
    return changes.alone(async () => {
      if (request.enabled) await this.#enable(request);
      else await this.disable();
      return this.view(await nmcli.devices(), await nmcli.wifiProfiles());
    });
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

  async #enable({ ssid, passphrase, channel }: HotspotRequest): Promise<void> {
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
      autoconnect: true,
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
    const { nmcli, store, isRadio } = this.#deps;
    const devices = iface === null ? await nmcli.devices() : [];
    const card = iface ?? devices.find(({ name, kind }) => kind === 'wifi' && !isRadio(name))?.name;
    if (card === undefined) throw noCard();
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
    'NetworkManager has no Wi-Fi card for that. Plug one in; cards of the radio (radio.cards) are not used.',
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
