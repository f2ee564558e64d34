import { Slots } from '../../../shared/async/slots.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { listOf, memberOf, parseJson } from '../../../shared/member.ts';
import { plainText } from '../../../shared/plain-text.ts';
import { runProgram } from '../../../shared/process/run-program.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A list, a modem and its bearer, one after the other, are less than a read of the API. */
const READ_MS = 3000;
const MAX_BYTES = 256 * 1024;
const MAX_MODEMS = 8;
const AT_ONCE = 4;
/** Of a name that a network or a SIM gives. */
const MAX_NAME = 64;
const MANY_MS = 3 * READ_MS;
/** mmcli's word for: there is none, or it is not known. */
const NONE = '--';

export type SimState = 'ready' | 'pin' | 'puk' | 'absent';

/** A modem, as ModemManager has it; null: not known. */
export interface ModemFacts {
  /** The last part of its object path. */
  readonly id: string;
  readonly model: string | null;
  /** Which modem it is, for good (DeviceIdentifier). */
  readonly identifier: string | null;
  /** Its control port: the name of NetworkManager's device. */
  readonly port: string | null;
  readonly state: string;
  readonly operator: string | null;
  readonly technology: string | null;
  readonly signalPercent: number | null;
  readonly sim: SimState | null;
  readonly simPath: string | null;
  readonly pinTriesLeft: number | null;
  readonly roaming: boolean | null;
  readonly bearers: readonly string[];
}

interface Signal {
  readonly rsrpDbm: number | null;
  readonly rsrqDb: number | null;
  readonly sinrDb: number | null;
  /** Seconds between two measurements; 0: it does not measure. */
  readonly refreshS: number | null;
}

interface Bearer {
  readonly apn: string | null;
  readonly ip: string | null;
  readonly rxBytes: number | null;
  readonly txBytes: number | null;
}

/**
 * Reads from ModemManager through mmcli (its JSON, mmcli(1)), as this user. All functions throw ApiError: E_NOT_IMPLEMENTED
 * (`missing`) without mmcli or ModemManager, E_NOT_FOUND for a modem that is gone, E_TIMEOUT, E_UPSTREAM.
 */
export class Mmcli {
  readonly #env: Env;

  /** @param env of this process */
  constructor(env: Env) {
    this.#env = { ...env, LC_ALL: 'C.UTF-8' };
  }

  /** At most eight, by number; without those that were gone when they were asked for. */
  async modems(): Promise<readonly ModemFacts[]> {
    const list = listOf(memberOf(await this.#ask('-L'), 'modem-list'))
      .map(idOf)
      .filter((id) => id !== '')
      .slice(0, MAX_MODEMS);
    const turns = new Slots(AT_ONCE);
    const late = AbortSignal.timeout(MANY_MS);
    const found = await Promise.all(list.map(async (id) => turns.run(async () => this.find(id), late)));
    return found.filter((modem) => modem !== null).toSorted((a, b) => Number(a.id) - Number(b.id));
  }

  /** Null: there is no such modem. @param id a number */
  async find(id: string): Promise<ModemFacts | null> {
    return this.modem(id).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'E_NOT_FOUND') return null;
      throw error;
    });
  }

  async modem(id: string): Promise<ModemFacts> {
    return modemOf(id, memberOf(await this.#ask('-m', id), 'modem'));
  }

  async signal(id: string): Promise<Signal> {
    const signal = memberOf(memberOf(await this.#ask('-m', id, '--signal-get'), 'modem'), 'signal');
    // The newest technology that was measured.
    const measured = ['5g', 'lte'].map((name) => memberOf(signal, name));
    const best = measured.find((each) => numberAt(each, 'rsrp') !== null);
    return {
      rsrpDbm: numberAt(best, 'rsrp'),
      rsrqDb: numberAt(best, 'rsrq'),
      sinrDb: numberAt(best, 'snr'),
      refreshS: numberAt(memberOf(signal, 'refresh'), 'rate'),
    };
  }

  /** Null: it is not connected, or gone. @param path as `ModemFacts.bearers` has it */
  async bearer(path: string): Promise<Bearer | null> {
    const bearer = memberOf(await this.#ask('-b', path), 'bearer');
    if (textAt(memberOf(bearer, 'status'), 'connected') !== 'yes') return null;
    const stats = memberOf(bearer, 'stats');
    const ip =
      textAt(memberOf(bearer, 'ipv4-config'), 'address') ??
      textAt(memberOf(bearer, 'ipv6-config'), 'address');
    return {
      apn: textAt(memberOf(bearer, 'properties'), 'apn'),
      ip,
      rxBytes: numberAt(stats, 'bytes-rx'),
      txBytes: numberAt(stats, 'bytes-tx'),
    };
  }

  /** The number of a SIM (ICCID); null: it is not known. @param path as `ModemFacts.simPath` has it */
  async iccid(path: string): Promise<string | null> {
    return textAt(memberOf(memberOf(await this.#ask('-i', path), 'sim'), 'properties'), 'iccid');
  }

  async #ask(...args: readonly string[]): Promise<unknown> {
    try {
      return parseJson(
        await runProgram('mmcli', [...args, '-J'], READ_MS, { env: this.#env, maxBytes: MAX_BYTES }),
      );
    } catch (error) {
      throw told(error);
    }
  }
}

function told(error: unknown): ApiError {
  if (error instanceof SyntaxError) return new ApiError('E_UPSTREAM', 'mmcli answers what is not JSON.');
  if (!(error instanceof ApiError)) return new ApiError('E_UPSTREAM', messageOf(error));
  if (error.code === 'E_NOT_IMPLEMENTED')
    return new ApiError('E_NOT_IMPLEMENTED', 'mmcli is missing. Install modemmanager.', {
      feature: 'network',
      missing: 'mmcli',
    });
  if (/couldn't (?:get bus|find the ModemManager process)|couldn't create manager/.test(error.message))
    return new ApiError(
      'E_NOT_IMPLEMENTED',
      'ModemManager is not running on this machine. Start it: systemctl start ModemManager.',
      { feature: 'network', missing: 'ModemManager' },
    );
  if (/couldn't find (?:modem|bearer|sim)/i.test(error.message))
    return new ApiError('E_NOT_FOUND', 'ModemManager has no such modem.');
  return new ApiError(error.code, ofModemManager(error), error.extras);
}

/** ModemManager's own reason, without the name of the program that told it. */
function ofModemManager(error: ApiError): string {
  return plainText(error.message.replace(/^mmcli: (?:error: )?/, 'ModemManager: ')).slice(0, 300);
}

function idOf(path: unknown): string {
  const [, id = ''] = /\/(\d{1,6})$/.exec(typeof path === 'string' ? path : '') ?? [];
  return id;
}

function modemOf(id: string, modem: unknown): ModemFacts {
  const generic = memberOf(modem, 'generic');
  const network = memberOf(modem, '3gpp');
  const quality = memberOf(generic, 'signal-quality');
  const percent = numberAt(quality, 'value');
  const technologies = textsOf(memberOf(generic, 'access-technologies')).slice(0, 4);
  const names = [textAt(generic, 'manufacturer'), textAt(generic, 'model')].filter((name) => name !== null);
  const registration = textAt(network, 'registration-state');
  const identifier = textAt(generic, 'device-identifier');
  const port = textAt(generic, 'primary-port');
  return {
    id,
    model: names.length === 0 ? null : names.join(' ').slice(0, MAX_NAME),
    identifier: identifier !== null && /^[0-9A-Za-z]{1,64}$/.test(identifier) ? identifier : null,
    port: port !== null && /^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$/.test(port) ? port : null,
    state: textAt(generic, 'state') ?? 'unknown',
    operator: textAt(network, 'operator-name') ?? textAt(network, 'operator-code'),
    technology: technologies.length === 0 ? null : technologies.join('+'),
    // A modem that is off has 0 and says that it is not recent.
    signalPercent:
      percent === null ||
      percent < 0 ||
      percent > 100 ||
      (percent === 0 && textAt(quality, 'recent') !== 'yes')
        ? null
        : Math.round(percent),
    sim: simOf(generic),
    simPath: pathAt(memberOf(generic, 'sim'), 'SIM'),
    pinTriesLeft: triesOf(memberOf(generic, 'unlock-retries')),
    roaming: registration === null ? null : registrations(registration),
    bearers: listOf(memberOf(generic, 'bearers'))
      .map((path) => pathAt(path, 'Bearer'))
      .filter((path) => path !== null)
      .slice(0, 4),
  };
}

function registrations(word: string): boolean | null {
  if (word.startsWith('roaming')) return true;
  return word.startsWith('home') ? false : null;
}

function simOf(generic: unknown): SimState | null {
  const lock = textAt(generic, 'unlock-required');
  if (lock === 'sim-pin') return 'pin';
  if (lock === 'sim-puk') return 'puk';
  if (textAt(generic, 'state-failed-reason') === 'sim-missing') return 'absent';
  if (textAt(generic, 'sim') === null) return textAt(generic, 'state') === 'failed' ? 'absent' : null;
  return 'ready';
}

/** As in `sim-pin (3)`. */
function triesOf(list: unknown): number | null {
  const own = textsOf(list).find((each) => each.startsWith('sim-pin ('));
  return own === undefined ? null : Number(/\((\d{1,3})\)/.exec(own)?.[1] ?? Number.NaN) || 0;
}

/** An object path, which is an argument of mmcli. */
function pathAt(value: unknown, kind: 'SIM' | 'Bearer'): string | null {
  return typeof value === 'string' &&
    new RegExp(`^/org/freedesktop/ModemManager1/${kind}/\\d{1,6}$`).test(value)
    ? value
    : null;
}

/** Networks and SIMs give themselves their names: one line of it. */
function shown(text: string): string | null {
  const plain = plainText(text).trim();
  return plain === '' || plain === NONE ? null : [...plain].slice(0, MAX_NAME).join('');
}

function textAt(from: unknown, name: string): string | null {
  const value = memberOf(from, name);
  return typeof value === 'string' ? shown(value) : null;
}

function textsOf(list: unknown): readonly string[] {
  return listOf(list).flatMap((each) => (typeof each === 'string' ? [shown(each) ?? ''] : []));
}

function numberAt(from: unknown, name: string): number | null {
  const text = textAt(from, name);
  if (text === null || !/^-?\d{1,16}(?:\.\d{1,6})?$/.test(text)) return null;
  return Number(text);
}
