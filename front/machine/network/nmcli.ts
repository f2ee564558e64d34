import { Slots } from '../../../shared/async/slots.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { notRunning, withoutNmcli } from '../../../shared/machine-work.ts';
import { runProgram } from '../../../shared/process/run-program.ts';

type Env = Readonly<Record<string, string | undefined>>;

const READ_MS = 8000;
/** Programs at a time. */
const AT_ONCE = 4;
/** None of them is anybody's free text: nmcli ends a value and the line alike, whatever stands in the value. */
const DEVICE_FIELDS = [
  ...['DEVICE', 'TYPE', 'HWADDR', 'STATE', 'NM-MANAGED', 'CON-UUID', 'IP-IFACE'].map(
    (name) => `GENERAL.${name}`,
  ),
  ...['ADDRESS', 'GATEWAY', 'ROUTE', 'DNS'].map((name) => `IP4.${name}`),
  'IP6.ADDRESS',
].join();
/** NetworkManager's state of a device that is up; from here down to `IDLE` it is on its way up, or on its way down. */
const CONNECTED = 100;
const IDLE = 30;

const KINDS: Readonly<Record<string, Profile['kind']>> = {
  '802-11-wireless': 'wifi',
  '802-3-ethernet': 'ethernet',
};

/** An interface, as NetworkManager has it. */
export interface Device {
  readonly name: string;
  /** The kernel's name of the interface that its packets leave by: of a modem another one. */
  readonly carrier: string;
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

interface AccessPoint {
  readonly inUse: boolean;
  readonly bssid: string;
  /** Bytes that are no UTF-8 are U+FFFD. */
  readonly ssid: string;
  readonly ssidHex: string;
  /** Each user has an account of it (802.1X), and there is no passphrase. */
  readonly isOfUsers: boolean;
  readonly channel: number | null;
  readonly frequencyMhz: number | null;
  /** Percent. */
  readonly signal: number | null;
  /** As `WPA2 WPA3`; empty: open. */
  readonly security: string;
}

/**
 * Reads from NetworkManager through nmcli (terse mode, nmcli(1)), as this user. Names of connections and networks may have any
 * characters, line ends too, so each is asked for by itself. All functions throw ApiError: E_NOT_IMPLEMENTED
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
    const text = await ask(this.#env, ['-f', DEVICE_FIELDS, 'device', 'show']);
    const blocks = text.split(/\n(?=GENERAL\.DEVICE:)/);
    return blocks.filter((block) => block.trim() !== '').map((block) => deviceOf(membersOf(block)));
  }

  async profiles(): Promise<readonly Profile[]> {
    const rows = await table(this.#env, 'UUID,TYPE,AUTOCONNECT,DEVICE', ['connection', 'show']);
    return each(rows, async ([uuid = '', type = '', autoconnect, device = '']) => {
      const name = await this.#text(uuid, 'connection.id');
      return name === null
        ? null
        : {
            uuid,
            name,
            kind: KINDS[type] ?? ('other' as const),
            autoconnect: autoconnect === 'yes',
            device: device === '' ? null : device,
          };
    });
  }

  async wifiProfiles(): Promise<readonly WifiProfile[]> {
    const profiles = (await this.profiles()).filter(({ kind }) => kind === 'wifi');
    return each(profiles, async (profile) => {
      const [W, S] = ['802-11-wireless', '802-11-wireless-security'];
      const ssid = await this.#text(profile.uuid, `${W}.ssid`);
      const rest = await this.#ofProfile(profile.uuid, ['-f', `${W}.mode,${W}.channel,${S}.key-mgmt`]);
      if (ssid === null || rest === null) return null;
      const members = membersOf(rest);
      const channel = numberOf(members.get(`${W}.channel`));
      return {
        ...profile,
        ssid,
        hotspot: members.get(`${W}.mode`) === 'ap',
        channel: channel === 0 ? null : channel,
        open: (members.get(`${S}.key-mgmt`) ?? '') === '',
      };
    });
  }

  /** One member of a connection, character for character; null if the connection is gone. */
  async #text(uuid: string, field: string): Promise<string | null> {
    const text = await this.#ofProfile(uuid, ['-e', 'no', '-g', field]);
    return text === null ? null : text.replace(/\n$/, '');
  }

  async #ofProfile(uuid: string, fields: readonly string[]): Promise<string | null> {
    return ask(this.#env, [...fields, 'connection', 'show', 'uuid', uuid]).catch((error: unknown) => {
      if (error instanceof ApiError && error.message.includes('no such connection profile')) return null;
      throw error;
    });
  }

  /** What NetworkManager heard last; it does not look around now. */
  async accessPoints(iface: string): Promise<readonly AccessPoint[]> {
    const fields = 'IN-USE,BSSID,SSID-HEX,CHAN,FREQ,SIGNAL,SECURITY,WPA-FLAGS,RSN-FLAGS';
    const rows = await table(this.#env, fields, [
      'device',
      'wifi',
      'list',
      'ifname',
      iface,
      '--rescan',
      'no',
    ]);
    return rows.map(
      ([inUse, bssid = '', hex = '', channel, frequency, signal, security = '', wpa = '', rsn = '']) => ({
        inUse: inUse === '*',
        bssid: bssid.toLowerCase(),
        ssid: Buffer.from(hex, 'hex').toString(),
        ssidHex: hex.toLowerCase(),
        channel: numberOf(channel),
        frequencyMhz: numberOf(frequency),
        signal: numberOf(signal),
        security,
        isOfUsers: /802\.1X/i.test(`${wpa} ${rsn} ${security}`) && !/psk|sae/i.test(`${wpa} ${rsn}`),
      }),
    );
  }
}

/** NetworkManager's own reason, without the name of the program that told it. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(/^nmcli: (?:Error: )?/, 'NetworkManager: ');
}

/** Without those that were gone when they were asked for. */
async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R | null>): Promise<readonly R[]> {
  const turns = new Slots(AT_ONCE);
  const late = AbortSignal.timeout(READ_MS);
  const found = await Promise.all(items.map(async (item) => turns.run(async () => work(item), late)));
  return found.filter((result) => result !== null);
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
    if (error.code === 'E_NOT_IMPLEMENTED') throw withoutNmcli();
    if (/NetworkManager is not running|Could not create NMClient/.test(error.message)) throw notRunning();
    throw new ApiError(error.code, reasonOf(error), error.extras);
  }
}

/** Of the form with a line a member, in which values are not escaped: not for anybody's free text. */
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
    carrier: text('GENERAL.IP-IFACE') ?? text('GENERAL.DEVICE') ?? '',
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
