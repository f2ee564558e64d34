import { ApiError, messageOf } from '../../../shared/errors.ts';
import { runProgram } from '../../../shared/process/run-program.ts';

type Env = Readonly<Record<string, string | undefined>>;

const READ_MS = 8000;
/** NetworkManager's state of a device that is up; from here down to `IDLE` it is on its way up, or on its way down. */
const CONNECTED = 100;
const IDLE = 30;

/** An interface, as NetworkManager has it. */
export interface Device {
  readonly name: string;
  /** `ethernet`, `wifi`, `gsm`, `bridge`, … */
  readonly kind: string;
  /** Lower case. */
  readonly mac: string | null;
  /** A word: `connected`, `disconnected`, `unavailable`, … */
  readonly state: string;
  readonly connected: boolean;
  readonly managed: boolean;
  /** The active connection, also while it comes up. */
  readonly uuid: string | null;
  /** With the length of the prefix, IPv4 first. */
  readonly addresses: readonly string[];
  /** IPv4. */
  readonly gateway: string | null;
  /** The metric of the default route, if it has one. */
  readonly metric: number | null;
  readonly dns: readonly string[];
}

/** A saved connection. */
export interface Profile {
  readonly uuid: string;
  readonly name: string;
  readonly kind: 'wifi' | 'ethernet' | 'other';
  readonly autoconnect: boolean;
  /** Where it is active. */
  readonly device: string | null;
}

export interface WifiProfile extends Profile {
  readonly ssid: string;
  readonly hotspot: boolean;
  readonly channel: number | null;
  readonly open: boolean;
}

export interface AccessPoint {
  readonly inUse: boolean;
  readonly bssid: string;
  /** Bytes that are no UTF-8 are U+FFFD. */
  readonly ssid: string;
  readonly ssidHex: string;
  readonly channel: number | null;
  readonly frequencyMhz: number | null;
  /** Percent. */
  readonly signal: number | null;
  /** As `WPA2 WPA3`; empty: open. */
  readonly security: string;
}

/**
 * Reads from NetworkManager through nmcli (terse mode, nmcli(1)), as this user. All functions throw ApiError: E_NOT_IMPLEMENTED
 * (`missing: nmcli`), E_UPSTREAM_DOWN if NetworkManager is not running, E_TIMEOUT, E_UPSTREAM.
 */
export class Nmcli {
  readonly #env: Env;

  /** @param env of this process */
  constructor(env: Env) {
    // With another character set nmcli replaces what it does not have in names.
    this.#env = { ...env, LC_ALL: 'C.UTF-8' };
  }

  async devices(): Promise<readonly Device[]> {
    const text = await ask(this.#env, ['-f', 'GENERAL,IP4,IP6', 'device', 'show']);
    const blocks = text.split(/\n(?=GENERAL\.DEVICE:)/);
    return blocks.filter((block) => block.trim() !== '').map((block) => deviceOf(membersOf(block)));
  }

  async profiles(): Promise<readonly Profile[]> {
    const rows = await table(this.#env, 'NAME,UUID,TYPE,AUTOCONNECT,DEVICE', ['connection', 'show']);
    return rows.map(([name = '', uuid = '', type = '', autoconnect, device = '']) => ({
      uuid,
      name,
      kind: type === '802-11-wireless' ? 'wifi' : type === '802-3-ethernet' ? 'ethernet' : 'other',
      autoconnect: autoconnect === 'yes',
      device: device === '' ? null : device,
    }));
  }

  async wifiProfiles(): Promise<readonly WifiProfile[]> {
    const profiles = (await this.profiles()).filter(({ kind }) => kind === 'wifi');
    const details = profiles.map(async (profile) => {
      const [W, S] = ['802-11-wireless', '802-11-wireless-security'];
      const fields = `${W}.ssid,${W}.mode,${W}.channel,${S}.key-mgmt`;
      const members = membersOf(
        await ask(this.#env, ['-f', fields, 'connection', 'show', 'uuid', profile.uuid]),
      );
      const channel = numberOf(members.get(`${W}.channel`));
      return {
        ...profile,
        ssid: members.get(`${W}.ssid`) ?? '',
        hotspot: members.get(`${W}.mode`) === 'ap',
        channel: channel === 0 ? null : channel,
        open: (members.get(`${S}.key-mgmt`) ?? '') === '',
      };
    });
    return Promise.all(details);
  }

  /** What NetworkManager heard last; it does not look around now. */
  async accessPoints(iface: string): Promise<readonly AccessPoint[]> {
    const fields = 'IN-USE,BSSID,SSID-HEX,CHAN,FREQ,SIGNAL,SECURITY';
    const rows = await table(this.#env, fields, [
      'device',
      'wifi',
      'list',
      'ifname',
      iface,
      '--rescan',
      'no',
    ]);
    return rows.map(([inUse, bssid = '', hex = '', channel, frequency, signal, security = '']) => ({
      inUse: inUse === '*',
      bssid: bssid.toLowerCase(),
      ssid: Buffer.from(hex, 'hex').toString(),
      ssidHex: hex.toLowerCase(),
      channel: numberOf(channel),
      frequencyMhz: numberOf(frequency),
      signal: numberOf(signal),
      security,
    }));
  }
}

/** NetworkManager's own reason, without the name of the program that told it. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/^nmcli: (?:Error: )?/, 'NetworkManager: ');
}

/** One line of terse mode: members between colons; a backslash takes the next character as it is. */
function splitTerse(line: string): readonly string[] {
  const members = [''];
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (character === ':') members.push('');
    else members[members.length - 1] += character === '\\' ? (line[++at] ?? '') : character;
  }
  return members;
}

async function table(
  env: Env,
  fields: string,
  args: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const text = await ask(env, ['-e', 'yes', '-f', fields, ...args]);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(splitTerse);
}

async function ask(env: Env, args: readonly string[]): Promise<string> {
  try {
    return await runProgram('nmcli', ['-t', ...args], READ_MS, { env });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'E_NOT_IMPLEMENTED')
      throw new ApiError(
        'E_NOT_IMPLEMENTED',
        'This machine has no nmcli, through which the node asks NetworkManager. Install network-manager.',
        { feature: 'network', missing: 'nmcli' },
      );
    if (/NetworkManager is not running|Could not create NMClient/.test(error.message))
      throw new ApiError(
        'E_UPSTREAM_DOWN',
        'NetworkManager is not running on this machine. Start it: systemctl start NetworkManager.',
      );
    throw new ApiError(error.code, reasonOf(error), error.extras);
  }
}

/** Of the form with a line a member, in which values are not escaped. */
function membersOf(block: string): ReadonlyMap<string, string> {
  return new Map(
    block.split('\n').flatMap((line): (readonly [string, string])[] => {
      const at = line.indexOf(':');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

function deviceOf(members: ReadonlyMap<string, string>): Device {
  const text = (name: string): string | null => {
    const value = members.get(name) ?? '';
    return value === '' ? null : value;
  };
  const all = (prefix: string): readonly string[] =>
    [...members].filter(([name]) => name.startsWith(`${prefix}[`)).map(([, value]) => value);
  // As in `100 (connected)`.
  const [, code = '0', word = 'unknown'] = /^(\d+)(?: \((.*)\))?$/.exec(text('GENERAL.STATE') ?? '') ?? [];
  const defaults = all('IP4.ROUTE').filter((route) => /\bdst = 0\.0\.0\.0\/0\b/.test(route));
  const metrics = defaults.map((route) => Number(/\bmt = (\d+)/.exec(route)?.[1] ?? 0));
  return {
    name: text('GENERAL.DEVICE') ?? '',
    kind: text('GENERAL.TYPE') ?? 'unknown',
    mac: text('GENERAL.HWADDR')?.toLowerCase() ?? null,
    state: word,
    connected: Number(code) === CONNECTED,
    managed: text('GENERAL.NM-MANAGED') !== 'no',
    uuid: Number(code) > IDLE ? text('GENERAL.CON-UUID') : null,
    addresses: [...all('IP4.ADDRESS'), ...all('IP6.ADDRESS')],
    gateway: text('IP4.GATEWAY'),
    metric: metrics.length === 0 ? null : Math.min(...metrics),
    dns: all('IP4.DNS'),
  };
}

function numberOf(text: string | undefined): number | null {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isNaN(value) ? null : value;
}
