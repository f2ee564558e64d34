import type { MavResult } from './mavlink-values.ts';

/** What can go wrong at a vehicle or on its line; nothing does here, all of it in `test/rig/sim`. Everybody reads it at the moment of use. */
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
