import type { ParseArgsOptionsConfig } from 'node:util';
import { type Faults, NO_FAULTS } from '../../../bin/sim/faults.ts';
import { MavResult } from '../../../bin/sim/mavlink-values.ts';
import { number, pairs } from '../../../bin/sim/options/option-values.ts';

const NONE: string[] = [];

/** The options that set a fault at start. */
export const FAULT_OPTIONS = {
  'lose-acks': { type: 'string', default: '0' },
  'ack-delay': { type: 'string', default: '0' },
  'in-progress': { type: 'boolean', default: NO_FAULTS.inProgress },
  'double-ack': { type: 'boolean', default: NO_FAULTS.doubleAck },
  'ack-result': { type: 'string', multiple: true, default: NONE },
  'no-message-interval': { type: 'boolean', default: NO_FAULTS.noMessageInterval },
  'drop-frames': { type: 'string', default: '0' },
  'drop-params': { type: 'string', default: '0' },
  'late-params': { type: 'string', default: '0' },
  'param-readonly': { type: 'string', multiple: true, default: NONE },
  'param-clamp': { type: 'string', multiple: true, default: NONE },
  silence: { type: 'boolean', default: NO_FAULTS.silence },
  garbage: { type: 'string', default: '0' },
  'refuse-signing': { type: 'boolean', default: NO_FAULTS.refuseSigning },
  'signing-deaf': { type: 'boolean', default: NO_FAULTS.signingDeaf },
  clumsy: { type: 'boolean', default: NO_FAULTS.clumsy },
  'radio-lost': { type: 'boolean', default: NO_FAULTS.radioLost },
  'lose-lists': { type: 'string', default: '0' },
  'not-simulated': { type: 'boolean', default: NO_FAULTS.notSimulated },
  'arm-refuse': { type: 'string', default: NO_FAULTS.armRefuse },
  'unknown-ids': { type: 'boolean', default: NO_FAULTS.unknownIds },
} as const satisfies ParseArgsOptionsConfig;

/** What `parseArgs` makes of them. */
type FaultValues = {
  readonly [K in keyof typeof FAULT_OPTIONS]: (typeof FAULT_OPTIONS)[K]['default'] extends boolean
    ? boolean
    : (typeof FAULT_OPTIONS)[K]['default'] extends string
      ? string
      : readonly string[];
};

/** @throws Error that says which option is wrong */
export function readFaults(values: FaultValues): Faults {
  return {
    loseAcks: number('lose-acks', values['lose-acks'], 0, 1e9),
    ackDelay: number('ack-delay', values['ack-delay'], 0, 600_000),
    inProgress: values['in-progress'],
    doubleAck: values['double-ack'],
    ackResults: Object.fromEntries(pairs('ack-result', values['ack-result']).map(ackResult)),
    modeRefusals: [],
    noMessageInterval: values['no-message-interval'],
    dropFrames: number('drop-frames', values['drop-frames'], 0, 1),
    dropParams: number('drop-params', values['drop-params'], 0, 1),
    lateParams: number('late-params', values['late-params'], 0, 10_000),
    paramReadonly: [...values['param-readonly']],
    paramClamp: Object.fromEntries(pairs('param-clamp', values['param-clamp']).map(clamp)),
    silence: values.silence,
    garbage: number('garbage', values.garbage, 0, 1),
    refuseSigning: values['refuse-signing'],
    signingDeaf: values['signing-deaf'],
    clumsy: values.clumsy,
    radio: [],
    radioLost: values['radio-lost'],
    loseLists: number('lose-lists', values['lose-lists'], 0, 1e9),
    notSimulated: values['not-simulated'],
    armRefuse: values['arm-refuse'],
    unknownIds: values['unknown-ids'],
  };
}

function ackResult([command, text]: readonly [string, string]): [number, MavResult] {
  const named = Object.entries(MavResult).find(([name, value]) => name === text || String(value) === text);
  if (named === undefined) {
    throw new Error(`--ack-result: "${text}" is none of ${Object.keys(MavResult).join(', ')}`);
  }
  return [number('ack-result', command, 0, 65535), named[1]];
}

function clamp([name, text]: readonly [string, string]): [string, readonly [number, number]] {
  const [low = '', high = '', ...more] = text.split('..');
  if (more.length > 0) throw new Error(`--param-clamp is NAME=LOW..HIGH, not "${text}"`);
  const from = number('param-clamp', low, -1e9, 1e9);
  return [name, [from, number('param-clamp', high, from, 1e9)]];
}
