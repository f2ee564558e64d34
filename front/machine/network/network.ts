import { randomUUID } from 'node:crypto';
import type { FromSchema } from 'json-schema-to-ts';
import { ApiError } from '../../../shared/errors.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { clientStatus, ethernetRequest, joinRequest } from '../../../shared/schemas/network.ts';
import type { Changes } from './change.ts';
import { type Hotspot, noCard, plain, ssidHex, upstream } from './hotspot.ts';
import type { NetworkStore } from './network-store.ts';
import { type Device, type Nmcli, reasonOf, type WifiProfile } from './nmcli.ts';
import type { Uplinks } from './uplinks.ts';

type JoinRequest = FromSchema<typeof joinRequest>;
type ClientStatus = FromSchema<typeof clientStatus>;
type EthernetRequest = FromSchema<typeof ethernetRequest>;

/** Before the metrics that NetworkManager chooses itself: 100 for a wired network, 600 for Wi-Fi. */
const FIRST_METRIC = 20;
const METRIC_STEP = 5;
const LOOPBACK = 'loopback';
/** The name of a saved network, as the route that forgets one takes it. */
const NOT_IN_NAME = /[\p{Cc}/\\]/gu;

interface NetworkDeps {
  readonly nmcli: Nmcli;
  readonly helper: Helper;
  readonly changes: Changes;
  readonly hotspot: Hotspot;
  readonly store: NetworkStore;
  readonly measured: Pick<Uplinks, 'view' | 'changes'>;
  /** Cards of the radio. */
  readonly isRadio: (iface: string) => boolean;
}

/** Interfaces, Wi-Fi as a client, wired addresses and the order of uplinks. Its functions throw ApiError as nmcli.ts and change.ts. */
export class Network {
  readonly #deps: NetworkDeps;

  constructor(deps: NetworkDeps) {
    this.#deps = deps;
  }

  async state(): Promise<MadeAnswer<'network.get'>> {
    const { nmcli, hotspot, isRadio } = this.#deps;
    const [devices, profiles] = await Promise.all([nmcli.devices(), nmcli.wifiProfiles()]);
    const interfaces = devices
      .filter(({ kind }) => kind !== LOOPBACK)
      .map(({ name, kind, mac, state, managed, addresses, gateway }) => ({
        name,
        kind,
        mac,
        state,
        managed,
        radio: isRadio(name),
        addresses,
        gateway,
      }));
    const uplinks = uplinksOf(devices)
      .map((uplink) => ({ ...uplink, ...this.#deps.measured.view(uplink.interface) }))
      .toSorted((a, b) => Number(b.in_use) - Number(a.in_use));
    return {
      interfaces,
      uplinks,
      uplink_changes: this.#deps.measured.changes,
      hotspot: await hotspot.view(devices, profiles),
    };
  }

  async clientStatus(): Promise<MadeAnswer<'network.client.status.get'>> {
    const { nmcli } = this.#deps;
    return this.#clientOf(await nmcli.devices(), await nmcli.wifiProfiles());
  }

  async scan(): Promise<MadeAnswer<'network.client.scan.get'>> {
    const { nmcli, helper } = this.#deps;
    const card = this.#cards(await nmcli.devices())[0];
    if (card === undefined) throw noCard();
    await helper.network_scan({ interface: card.name }).catch(upstream);
    const points = await nmcli.accessPoints(card.name);
    const networks = points.map(
      ({ ssid, ssidHex: hex, bssid, channel, frequencyMhz, signal, security, inUse }) => ({
        ssid,
        ssid_hex: hex,
        bssid,
        channel,
        frequency_mhz: frequencyMhz,
        signal,
        security,
        in_use: inUse,
      }),
    );
    return { networks };
  }

  async configured(): Promise<MadeAnswer<'network.client.configured.get'>> {
    const profiles = await this.#deps.nmcli.wifiProfiles();
    const connections = profiles
      .filter(({ hotspot }) => !hotspot)
      .map(({ name, device, autoconnect }) => ({ name, type: 'wifi' as const, device, autoconnect }));
    return { connections };
  }

  /** @throws ApiError E_HOTSPOT_ACTIVE if the hotspot holds the only card and may not be stopped */
  async join(request: JoinRequest): Promise<MadeAnswer<'network.client.join.put'>> {
    const hex = request.ssid_hex ?? ssidHex(request.ssid ?? '');
    return this.#deps.changes.alone(async () => this.#join(request, hex));
  }

  async #join(request: JoinRequest, hex: string): Promise<MadeAnswer<'network.client.join.put'>> {
    const { nmcli, helper, changes, hotspot } = this.#deps;
    const { passphrase, hidden = false } = request;
    const ssid = Buffer.from(hex, 'hex').toString();
    const id = nameOf(ssid, hex);
    const [devices, profiles] = [await nmcli.devices(), await nmcli.wifiProfiles()];
    const cards = this.#cards(devices);
    if (cards.length === 0) throw noCard();
    const held = new Set(profiles.filter((profile) => profile.hotspot).map(({ uuid }) => uuid));
    const card = cards.find(({ uuid }) => uuid === null || !held.has(uuid)) ?? cards[0];
    if (card === undefined) throw noCard();
    const hotspotStops = card.uuid !== null && held.has(card.uuid);
    if (hotspotStops && request.stop_hotspot !== true) throw new ApiError('E_HOTSPOT_ACTIVE');

    const saved = profiles.find(
      (profile) => !profile.hotspot && (profile.ssid === ssid || (id === hex && profile.name === hex)),
    );
    let to: Parameters<Changes['bringUp']>[1];
    if (passphrase === undefined && saved !== undefined) to = saved.uuid;
    else {
      // A card that is a hotspot does not look around.
      const security = hotspotStops || hidden ? null : await this.#securityOf(card.name, ssid, hex);
      if (passphrase === undefined && security !== null && security !== '')
        throw new ApiError('E_INVALID_VALUE', `${ssid} is protected (${security}). Send its passphrase.`);
      const secured = /WPA3/.test(security ?? '') && !/WPA2/.test(security ?? '') ? 'sae' : 'wpa-psk';
      to = {
        uuid: randomUUID(),
        id,
        kind: 'client',
        interface: card.name,
        autoconnect: true,
        ssid_hex: hex,
        security: passphrase === undefined ? 'open' : secured,
        hidden,
        ...(passphrase === undefined ? {} : { passphrase }),
        ...(await this.metric(card.name)),
      };
    }
    await changes.bringUp(card.name, to, card.uuid);
    if (hotspotStops) await hotspot.disable();
    if (typeof to !== 'string') {
      const older = profiles.filter((p) => !p.hotspot && (p.ssid === ssid || id === hex) && p.name === id);
      for (const { uuid } of older) await helper.network_forget({ uuid }).catch(upstream);
    }
    const now = (await nmcli.devices()).find(({ name }) => name === card.name);
    return { ssid, ip: plain(now?.addresses[0]), gateway: now?.gateway ?? null };
  }

  /** @returns as `WPA2`; empty: open @throws ApiError E_UPSTREAM if there is no such network */
  async #securityOf(iface: string, ssid: string, hex: string): Promise<string> {
    const { nmcli, helper } = this.#deps;
    const heard = async (): Promise<string | undefined> => {
      const points = (await nmcli.accessPoints(iface)).filter((point) => point.ssidHex === hex);
      if (points.length > 0 && points.every(({ isOfUsers }) => isOfUsers))
        throw new ApiError(
          'E_INVALID_VALUE',
          `${ssid} wants an account of each user (802.1X), which this node cannot have: it joins open networks and those with one passphrase.`,
        );
      return points[0]?.security;
    };
    const before = await heard();
    if (before !== undefined) return before;
    await helper.network_scan({ interface: iface }).catch(upstream);
    const found = await heard();
    if (found !== undefined) return found;
    throw new ApiError(
      'E_UPSTREAM',
      `NetworkManager hears no network ${ssid} on ${iface}. Nothing was changed. Go nearer, or say hidden if it does not say its name.`,
      { reverted: true },
    );
  }

  async leave(): Promise<MadeAnswer<'network.client.delete'>> {
    const { nmcli, helper, changes } = this.#deps;
    return changes.alone(async () => {
      const client = await this.#clientOf(await nmcli.devices(), await nmcli.wifiProfiles());
      if (client.interface === null) return { left: false, previous_ssid: null };
      await helper.network_leave({ interface: client.interface }).catch(upstream);
      return { left: true, previous_ssid: client.ssid };
    });
  }

  async forget(name: string): Promise<MadeAnswer<'network.client.configured.name.delete'>> {
    const { nmcli, helper, changes } = this.#deps;
    return changes.alone(async () => {
      const profiles = await nmcli.wifiProfiles();
      const found = profiles.filter((profile) => profile.name === name && !profile.hotspot);
      if (found.length === 0) throw new ApiError('E_NOT_FOUND', `No Wi-Fi network ${name} is saved.`);
      for (const { uuid } of found) await helper.network_forget({ uuid }).catch(upstream);
      return { forgot: true, name };
    });
  }

  async ethernet({
    interface: iface,
    mode,
    address,
    gateway,
    dns = [],
  }: EthernetRequest): Promise<MadeAnswer<'network.ethernet.put'>> {
    const { nmcli, helper, changes } = this.#deps;
    if (mode === 'dhcp' && (address ?? gateway) !== undefined)
      throw new ApiError('E_INVALID_VALUE', 'With dhcp, the network gives address and gateway.');
    if (mode === 'static' && address === undefined)
      throw new ApiError(
        'E_INVALID_VALUE',
        'With static, send an address with the length of its prefix, as in 192.168.1.20/24.',
      );
    return changes.alone(async () => {
      const wired = (await nmcli.devices()).filter(({ kind, managed }) => kind === 'ethernet' && managed);
      const device = wired.find(({ name }) => name === iface);
      if (device === undefined) {
        const names = wired.map(({ name }) => name).join(', ');
        const others = names === '' ? 'has no wired one' : `has: ${names}`;
        throw new ApiError(
          'E_INVALID_VALUE',
          `NetworkManager manages no wired interface ${iface}; it ${others}.`,
        );
      }
      const id = `svc-wired-${iface}`;
      const older = (await nmcli.profiles()).filter(({ name }) => name === id);
      const profile = {
        uuid: randomUUID(),
        id,
        kind: 'wired',
        interface: iface,
        autoconnect: true,
        dns,
        ...(address === undefined ? {} : { address }),
        ...(gateway === undefined ? {} : { gateway }),
        ...(await this.metric(iface)),
      } as const;
      await changes.bringUp(iface, profile, device.uuid);
      for (const { uuid } of older) await helper.network_forget({ uuid }).catch(upstream);
      const now = (await nmcli.devices()).find(({ name }) => name === iface);
      const { addresses = [], gateway: used = null, dns: servers = [] } = now ?? {};
      return { interface: iface, mode, addresses, gateway: used, dns: servers };
    });
  }

  /** The order is kept, and set on what is connected. */
  async prioritise(priority: readonly string[]): Promise<MadeAnswer<'ground-station.network.priority.put'>> {
    const { nmcli, helper, changes, store } = this.#deps;
    return changes.alone(async () => {
      const devices = await nmcli.devices();
      await store.write({ priority });
      const applied: string[] = [];
      for (const iface of priority) {
        const device = devices.find(({ name, connected }) => name === iface && connected);
        if (device === undefined || device.uuid === null) continue;
        const metric = metricOf(iface, priority) ?? FIRST_METRIC;
        // A modem takes it when it connects next; until then the uplinks are in this order all the same (uplinks.ts).
        const later = device.kind === 'gsm' || device.kind === 'cdma';
        await helper
          .network_metric({ uuid: device.uuid, interface: iface, metric, later })
          .catch((error: unknown) => {
            const done = applied.length === 0 ? 'none' : applied.join(', ');
            throw new ApiError(
              'E_UPSTREAM',
              `The order is kept, but ${iface} does not take it: ${reasonOf(error)} Those that have: ${done}.`,
              { applied },
            );
          });
        applied.push(iface);
      }
      return { priority, applied };
    });
  }

  /** As a ground station shows it. */
  async ground(): Promise<MadeAnswer<'ground-station.network.get'>> {
    const { nmcli, hotspot, store } = this.#deps;
    const [devices, profiles] = [await nmcli.devices(), await nmcli.wifiProfiles()];
    const { priority, share_uplink: share } = await store.read();
    const wired = devices.filter(({ kind }) => kind === 'ethernet');
    const cable = wired.find(({ connected }) => connected) ?? wired[0];
    const modem = devices.find(({ kind }) => kind === 'gsm' || kind === 'cdma');
    return {
      ap: await hotspot.view(devices, profiles),
      wifi_client: await this.#clientOf(devices, profiles),
      ethernet:
        cable === undefined
          ? null
          : {
              interface: cable.name,
              link: cable.state !== 'unavailable',
              ip: plain(cable.addresses[0]),
              gateway: cable.gateway,
            },
      modem_4g:
        modem === undefined
          ? null
          : { interface: modem.name, connected: modem.connected, ip: plain(modem.addresses[0]) },
      active_uplink:
        devices.find(({ name }) => this.#deps.measured.view(name).in_use)?.name ??
        uplinksOf(devices)[0]?.interface ??
        null,
      priority,
      share_uplink: share,
    };
  }

  /** Of an interface's routes, if it has a place in the order. */
  async metric(iface: string): Promise<{ readonly metric?: number }> {
    const metric = metricOf(iface, (await this.#deps.store.read()).priority);
    return metric === null ? {} : { metric };
  }

  /** What may be used as a client or a hotspot. */
  #cards(devices: readonly Device[]): readonly Device[] {
    return devices.filter(
      ({ name, kind, managed }) => kind === 'wifi' && managed && !this.#deps.isRadio(name),
    );
  }

  async #clientOf(devices: readonly Device[], profiles: readonly WifiProfile[]): Promise<ClientStatus> {
    const clients = new Map(
      profiles.filter(({ hotspot }) => !hotspot).map((profile) => [profile.uuid, profile]),
    );
    const card = this.#cards(devices).find(({ uuid, connected }) => connected && clients.has(uuid ?? ''));
    if (card === undefined)
      return {
        connected: false,
        interface: null,
        ssid: null,
        bssid: null,
        signal: null,
        ip: null,
        gateway: null,
        security: null,
      };
    const points = await this.#deps.nmcli.accessPoints(card.name);
    const point = points.find(({ inUse }) => inUse);
    return {
      connected: true,
      interface: card.name,
      ssid: point?.ssid ?? clients.get(card.uuid ?? '')?.ssid ?? null,
      bssid: point?.bssid ?? null,
      signal: point?.signal ?? null,
      ip: plain(card.addresses[0]),
      gateway: card.gateway,
      security: point?.security ?? null,
    };
  }
}

interface Uplink {
  readonly interface: string;
  readonly kind: string;
  readonly gateway: string;
  readonly metric: number | null;
}

/** The one in use first: the kernel takes the lowest metric. */
function uplinksOf(devices: readonly Device[]): readonly Uplink[] {
  return devices
    .flatMap(({ name, kind, gateway, metric, connected }) =>
      gateway === null || !connected ? [] : [{ interface: name, kind, gateway, metric }],
    )
    .toSorted((a, b) => (a.metric ?? Infinity) - (b.metric ?? Infinity));
}

function metricOf(iface: string, priority: readonly string[]): number | null {
  const place = priority.indexOf(iface);
  return place < 0 ? null : FIRST_METRIC + place * METRIC_STEP;
}

/** What is not UTF-8 has its bytes as a name, of which there is one. */
function nameOf(ssid: string, hex: string): string {
  return Buffer.from(ssid).toString('hex') === hex ? ssid.replace(NOT_IN_NAME, '_') : hex;
}
