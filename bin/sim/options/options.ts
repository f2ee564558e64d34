import { parseArgs } from 'node:util';
import type { AutopilotOptions } from '../autopilot.ts';
import { type Faults, NO_FAULTS } from '../faults.ts';
import { ardupilot, VEHICLES, type VehicleFamily } from '../firmware/ardupilot.ts';
import type { Firmware } from '../firmware/firmware.ts';
import type { UdpOptions } from '../transports/udp-link.ts';
import { hostPort, number, oneOf } from './option-values.ts';
import { DEFAULT_HOME } from './usage.ts';

/** How the vehicle is reached. */
export type LinkChoice =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | ({ readonly kind: 'udp' } & UdpOptions)
  | { readonly kind: 'serial'; readonly path: string; readonly baud: number };

/** Everything that the command line says. */
export interface SimOptions {
  readonly link: LinkChoice;
  readonly seed: number;
  /** How many vehicles. */
  readonly fleet: number;
  /** All of them on one link. */
  readonly shared: boolean;
  /** The first vehicle. */
  readonly autopilot: AutopilotOptions;
  readonly faults: Faults;
}

const MAX_SYSID = 255;

/**
 * @param firmwareOf whose protocol a vehicle of that family speaks
 * @throws Error that says which option is wrong
 */
export function parseOptions(
  argv: readonly string[],
  firmwareOf: (family: VehicleFamily) => Firmware = ardupilot,
): SimOptions {
  const { values } = parseArgs({
    args: [...argv],
    strict: true,
    allowPositionals: false,
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '5762' },
      'udp-out': { type: 'string' },
      'udp-in': { type: 'string' },
      serial: { type: 'string' },
      baud: { type: 'string', default: '115200' },
      vehicle: { type: 'string', default: 'copter' },
      sysid: { type: 'string', default: '1' },
      uid: { type: 'string' },
      home: { type: 'string', default: DEFAULT_HOME },
      speedup: { type: 'string', default: '1' },
      mode: { type: 'string' },
      settle: { type: 'string', default: '1500' },
      'param-rate': { type: 'string', default: '200' },
      'param-count': { type: 'string', default: '0' },
      logs: { type: 'string', default: '2' },
      'log-size': { type: 'string', default: '50000' },
      adsb: { type: 'string', default: '0' },
      'log-rate': { type: 'string', default: '1000000' },
      'no-mission': { type: 'boolean', default: false },
      'no-ftp': { type: 'boolean', default: false },
      'signing-key': { type: 'string' },
      seed: { type: 'string', default: '1' },
      fleet: { type: 'string', default: '1' },
      shared: { type: 'boolean', default: false },
    },
  });
  const firmware = firmwareOf(oneOf('vehicle', values.vehicle, VEHICLES));
  const sysid = number('sysid', values.sysid, 1, MAX_SYSID);
  const fleet = number('fleet', values.fleet, 1, MAX_SYSID + 1 - sysid);
  const link = chooseLink(values);
  if (fleet > 1 && link.kind !== 'tcp' && !values.shared) {
    throw new Error('--fleet on UDP or a serial line needs --shared');
  }
  return {
    link,
    seed: number('seed', values.seed, 0, 2 ** 32 - 1),
    fleet,
    shared: values.shared,
    autopilot: {
      sysid,
      firmware,
      uid: values.uid === undefined ? sysid : number('uid', values.uid, 0, 9_999_999_999),
      home: home(values.home),
      speedup: number('speedup', values.speedup, 0.1, 100),
      initialMode:
        values.mode === undefined ? firmware.initialMode : number('mode', values.mode, 0, 2 ** 32 - 1),
      settleMs: number('settle', values.settle, 0, 600_000),
      paramRate: number('param-rate', values['param-rate'], 1, 100_000),
      paramCount: number('param-count', values['param-count'], 0, 10_000),
      mission: !values['no-mission'],
      ftp: !values['no-ftp'],
      logs: {
        count: number('logs', values.logs, 0, 500),
        size: number('log-size', values['log-size'], 0, 2 ** 31),
        rate: number('log-rate', values['log-rate'], 100, 1e9),
      },
      adsb: number('adsb', values.adsb, 0, 500),
      signingKey: values['signing-key'] === undefined ? undefined : key(values['signing-key']),
    },
    faults: { ...NO_FAULTS },
  };
}

interface LinkValues {
  readonly host: string;
  readonly port: string;
  readonly baud: string;
  readonly serial?: string | undefined;
  readonly 'udp-out'?: string | undefined;
  readonly 'udp-in'?: string | undefined;
}

function chooseLink(values: LinkValues): LinkChoice {
  const { serial, 'udp-out': out, 'udp-in': into } = values;
  if ([serial, out, into].filter((one) => one !== undefined).length > 1) {
    throw new Error('only one of --serial, --udp-out and --udp-in');
  }
  if (serial !== undefined)
    return { kind: 'serial', path: serial, baud: number('baud', values.baud, 1200, 4_000_000) };
  if (out !== undefined) return { kind: 'udp', direction: 'out', ...hostPort('udp-out', out, 1) };
  if (into !== undefined) return { kind: 'udp', direction: 'in', ...hostPort('udp-in', into, 0) };
  return { kind: 'tcp', host: values.host, port: number('port', values.port, 0, 65535) };
}

function key(text: string): Buffer {
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new Error('--signing-key is 64 hexadecimal digits');
  return Buffer.from(text, 'hex');
}

function home(text: string): AutopilotOptions['home'] {
  const [lat = NaN, lon = NaN, alt = NaN, heading = 0, ...more] = text.split(',').map(Number);
  const good = Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && Number.isFinite(alt + heading);
  if (!good || more.length > 0) throw new Error(`--home is LAT,LON,ALT[,HEADING], not "${text}"`);
  return { lat, lon, alt, heading };
}
