import { parseArgs } from 'node:util';
import type { AutopilotOptions } from './autopilot.ts';
import { type Faults, NO_FAULTS } from './faults.ts';

/** Everything that the command line says. */
export interface SimOptions {
  readonly host: string;
  readonly port: number;
  readonly seed: number;
  readonly autopilot: AutopilotOptions;
  readonly faults: Faults;
}

/** The field in Canberra where ArduPilot's own simulator starts: lat, lon in degrees, altitude in m above sea level, heading in degrees. */
const DEFAULT_HOME = '-35.3632621,149.1652374,584,353';

export const USAGE = `svc-sim: a simulated ArduCopter quadcopter on TCP
  --host ADDR --port N         where it listens (127.0.0.1, 5762; 0: any free port)
  --sysid N                    SYSID_THISMAV (1)
  --home LAT,LON,ALT,HEADING   (${DEFAULT_HOME})
  --speedup N                  simulated time runs N times faster (1)
  --mode N                     mode at boot, ArduCopter's number (0, STABILIZE)
  --settle MS                  from boot until the EKF has a position (1500)
  --param-rate N               parameters a second in a list download (200)
  --no-mission                 no built-in mission
  --seed N                     of the faults' randomness (1)
faults: --lose-acks N  --ack-delay MS  --in-progress  --drop-params RATIO  --silence  --garbage RATIO
        --not-simulated  --arm-refuse TEXT  --unknown-ids`;

/** @throws Error that says which option is wrong */
export function parseOptions(argv: readonly string[]): SimOptions {
  const { values } = parseArgs({
    args: [...argv],
    strict: true,
    allowPositionals: false,
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '5762' },
      sysid: { type: 'string', default: '1' },
      home: { type: 'string', default: DEFAULT_HOME },
      speedup: { type: 'string', default: '1' },
      mode: { type: 'string', default: '0' },
      settle: { type: 'string', default: '1500' },
      'param-rate': { type: 'string', default: '200' },
      'no-mission': { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      'lose-acks': { type: 'string', default: '0' },
      'ack-delay': { type: 'string', default: '0' },
      'in-progress': { type: 'boolean', default: NO_FAULTS.inProgress },
      'drop-params': { type: 'string', default: '0' },
      silence: { type: 'boolean', default: NO_FAULTS.silence },
      garbage: { type: 'string', default: '0' },
      'not-simulated': { type: 'boolean', default: NO_FAULTS.notSimulated },
      'arm-refuse': { type: 'string', default: NO_FAULTS.armRefuse },
      'unknown-ids': { type: 'boolean', default: NO_FAULTS.unknownIds },
    },
  });
  return {
    host: values.host,
    port: number('port', values.port, 0, 65535),
    seed: number('seed', values.seed, 0, 2 ** 32 - 1),
    autopilot: {
      sysid: number('sysid', values.sysid, 1, 255),
      home: home(values.home),
      speedup: number('speedup', values.speedup, 0.1, 100),
      initialMode: number('mode', values.mode, 0, 127),
      settleMs: number('settle', values.settle, 0, 600_000),
      paramRate: number('param-rate', values['param-rate'], 1, 100_000),
      mission: !values['no-mission'],
    },
    faults: {
      loseAcks: number('lose-acks', values['lose-acks'], 0, 1e9),
      ackDelay: number('ack-delay', values['ack-delay'], 0, 600_000),
      inProgress: values['in-progress'],
      dropParams: number('drop-params', values['drop-params'], 0, 1),
      silence: values.silence,
      garbage: number('garbage', values.garbage, 0, 1),
      notSimulated: values['not-simulated'],
      armRefuse: values['arm-refuse'],
      unknownIds: values['unknown-ids'],
    },
  };
}

function number(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= low && value <= high)) {
    throw new Error(`--${name} is a number from ${low} to ${high}, not "${text}"`);
  }
  return value;
}

function home(text: string): AutopilotOptions['home'] {
  const [lat = NaN, lon = NaN, alt = NaN, heading = 0, ...more] = text.split(',').map(Number);
  const good = Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && Number.isFinite(alt + heading);
  if (!good || more.length > 0) throw new Error(`--home is LAT,LON,ALT[,HEADING], not "${text}"`);
  return { lat, lon, alt, heading };
}
