import type { FaultMessage } from './fault-message.ts';
import type { MavResult } from './mavlink-values.ts';

/** The faults in force. Set by options at start and by `FaultMessage` later; everybody reads them at the moment of use. */
export interface Faults {
  loseAcks: number;
  ackDelay: number;
  inProgress: boolean;
  dropParams: number;
  silence: boolean;
  garbage: number;
  notSimulated: boolean;
  armRefuse: string;
  unknownIds: boolean;
  ackResults: Readonly<Record<number, MavResult>>;
  modeRefusals: readonly number[];
  noMessageInterval: boolean;
  dropFrames: number;
  lateParams: number;
  paramReadonly: readonly string[];
  paramClamp: Readonly<Record<string, readonly [low: number, high: number]>>;
  doubleAck: boolean;
  refuseSigning: boolean;
  signingDeaf: boolean;
  loseLists: number;
  clumsy: boolean;
  radio: readonly number[];
  radioLost: boolean;
}

export const NO_FAULTS: Readonly<Faults> = {
  loseAcks: 0,
  ackDelay: 0,
  inProgress: false,
  dropParams: 0,
  silence: false,
  garbage: 0,
  notSimulated: false,
  armRefuse: '',
  unknownIds: false,
  ackResults: {},
  modeRefusals: [],
  noMessageInterval: false,
  dropFrames: 0,
  lateParams: 0,
  paramReadonly: [],
  paramClamp: {},
  doubleAck: false,
  refuseSigning: false,
  signingDeaf: false,
  loseLists: 0,
  clumsy: false,
  radio: [],
  radioLost: false,
};

/** Whether an IPC message is for this file (the supervisor's own messages share the channel). */
export function isFaultMessage(message: unknown): message is FaultMessage {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'fault';
}

/**
 * Takes over the members of `message` that are present.
 * @throws TypeError when a member is unknown or of another type: a test with a typing error must not pass by luck
 */
export function applyFaults(faults: Faults, message: FaultMessage): void {
  const { type: _type, reboot: _reboot, ...members } = message;
  for (const [name, value] of Object.entries(members)) {
    if (!isFaultName(name)) throw new TypeError(`there is no fault "${name}"`);
    if (typeof value !== typeof faults[name]) throw new TypeError(`fault ${name}: ${typeof value} given`);
  }
  Object.assign(faults, members);
}

function isFaultName(name: string): name is keyof Faults {
  return Object.hasOwn(NO_FAULTS, name);
}
