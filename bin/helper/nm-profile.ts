import { ApiError } from '../../shared/errors.ts';
import type { NetworkProfile } from '../../shared/schemas/network-operation.ts';

/** Guests of a hotspot that does not share its uplink are sent here, by a rule of the hotspot's own connection. */
const NO_UPLINK_TABLE = 30_400;
/** Before connections that others have made, which have 0. */
const PRIORITY = 10;
/** The last channel of the 2.4 GHz band. */
const LAST_OF_BG = 14;

const TYPES: Readonly<Record<NetworkProfile['kind'], string>> = {
  client: 'wifi',
  hotspot: 'wifi',
  wired: 'ethernet',
  modem: 'gsm',
};

type Section = readonly [name: string, lines: readonly string[]];

/**
 * A connection as NetworkManager's own file (nm-settings-keyfile(5)). Every value is from a checked profile, so none of them has
 * a line break.
 * @param psk the passphrase as such a file has it (escaped); null: none
 */
export function renderProfile(profile: NetworkProfile, psk: string | null): string {
  const { kind, uuid, id, autoconnect } = profile;
  const connection = [
    `id=${escaped(id)}`,
    `uuid=${uuid}`,
    `type=${TYPES[kind]}`,
    `interface-name=${profile.interface}`,
    `autoconnect=${autoconnect}`,
    `autoconnect-priority=${PRIORITY}`,
  ];
  const sections: readonly Section[] = [
    ['connection', connection],
    ...(kind === 'client' || kind === 'hotspot' ? wifi(profile, psk) : []),
    ...(kind === 'modem' ? [gsm(profile)] : []),
    ['ipv4', ipv4(profile)],
    ['ipv6', [`method=${kind === 'hotspot' ? 'link-local' : 'auto'}`, ...metric(profile)]],
  ];
  return sections.map(([name, lines]) => [`[${name}]`, ...lines, ''].join('\n')).join('\n');
}

/** GKeyFile: a backslash begins an escape, and blanks at the ends would be lost. */
export function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll(' ', '\\s');
}

/** The passphrase in the text of such a file, still escaped; null if it has none. */
export function pskIn(text: string): string | null {
  return /^psk=(.+)$/m.exec(text)?.[1] ?? null;
}

function wifi(
  { kind, ssid_hex: ssid, security = 'open', hidden, channel }: NetworkProfile,
  psk: string | null,
): readonly Section[] {
  if (ssid === undefined) throw new ApiError('E_INVALID_VALUE', 'A Wi-Fi connection has an ssid_hex.');
  const lines = [
    `mode=${kind === 'hotspot' ? 'ap' : 'infrastructure'}`,
    `ssid=${[...Buffer.from(ssid, 'hex')].map((byte) => `${byte};`).join('')}`,
    ...(hidden === true ? ['hidden=true'] : []),
    ...(channel === undefined ? [] : [`band=${channel > LAST_OF_BG ? 'a' : 'bg'}`, `channel=${channel}`]),
  ];
  if (security === 'open') return [['wifi', lines]];
  if (psk === null) throw new ApiError('E_INVALID_VALUE', `A connection with ${security} has a passphrase.`);
  return [
    ['wifi', lines],
    ['wifi-security', [`key-mgmt=${security}`, `psk=${psk}`]],
  ];
}

/**
 * NetworkManager unlocks a SIM with the PIN in this file, and with no other: it asks nobody here. One that is wrong it tries once
 * each time it connects, so a file with a PIN must not be connected by itself.
 */
function gsm({ modem, apn, username, password, pin, allow_roaming: roams }: NetworkProfile): Section {
  if (modem === undefined) throw new ApiError('E_INVALID_VALUE', 'A connection of a modem names the modem.');
  const given = (name: string, value: string | undefined): readonly string[] =>
    value === undefined ? [] : [`${name}=${escaped(value)}`];
  return [
    'gsm',
    [
      `device-id=${modem}`,
      `home-only=${roams !== true}`,
      ...given('apn', apn),
      ...given('username', username),
      ...given('password', password),
      ...given('pin', pin),
    ],
  ];
}

function ipv4(profile: NetworkProfile): readonly string[] {
  const { kind, address, gateway, dns = [], share_uplink: share, interface: iface } = profile;
  const own =
    address === undefined ? [] : [`address1=${address}${gateway === undefined ? '' : `,${gateway}`}`];
  if (kind === 'hotspot') {
    // What is for this node itself is looked up before any rule.
    const closed = [
      `routing-rule1=priority ${NO_UPLINK_TABLE} from 0.0.0.0/0 iif ${iface} table ${NO_UPLINK_TABLE}`,
      'route1=0.0.0.0/0',
      `route1_options=table=${NO_UPLINK_TABLE},type=blackhole`,
    ];
    return ['method=shared', ...own, ...(share === true ? [] : closed)];
  }
  const servers = dns.length === 0 ? [] : [`dns=${dns.map((server) => `${server};`).join('')}`];
  return [`method=${own.length === 0 ? 'auto' : 'manual'}`, ...own, ...servers, ...metric(profile)];
}

function metric({ metric: value, kind }: NetworkProfile): readonly string[] {
  return value === undefined || kind === 'hotspot' ? [] : [`route-metric=${value}`];
}
