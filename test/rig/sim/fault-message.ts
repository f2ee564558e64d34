import { type Faults, NO_FAULTS } from '../../../bin/sim/faults.ts';
import type { MavResult } from '../../../bin/sim/mavlink-values.ts';

/** What a test may send to a running `svc-sim` over the node IPC channel. A member that is absent leaves its fault as it is. */
export interface FaultMessage {
  readonly type: 'fault';
  /** Drop the next N COMMAND_ACKs. */
  readonly loseAcks?: number;
  /** Milliseconds (wall clock) between a command and its final COMMAND_ACK. */
  readonly ackDelay?: number;
  /** Send IN_PROGRESS at once and the final ack after `ackDelay` (300 ms where that is 0). */
  readonly inProgress?: boolean;
  /** Share 0..1 of the PARAM_VALUEs of a list download that is dropped. */
  readonly dropParams?: number;
  /** Send nothing while TCP stays open. Nothing of the silent time is sent later. */
  readonly silence?: boolean;
  /** Chance 0..1 per frame of random bytes before it, among them false start bytes. */
  readonly garbage?: number;
  /** No SIMSTATE, no SIM_* parameters: act as a real vehicle. */
  readonly notSimulated?: boolean;
  /** A pre-arm check that fails with this text; an empty text ends it. */
  readonly armRefuse?: string;
  /** After every eighth frame a valid frame of a message id that no dialect knows. */
  readonly unknownIds?: boolean;
  /** MAV_RESULT by MAV_CMD: such a command is answered with that result and not carried out. Replaces the ones before. */
  readonly ackResults?: Readonly<Record<number, MavResult>>;
  /** Numbers of modes that it does not go into. Replaces the ones before. */
  readonly modeRefusals?: readonly number[];
  /** MAV_CMD_SET_MESSAGE_INTERVAL is UNSUPPORTED. */
  readonly noMessageInterval?: boolean;
  /** Share 0..1 of all frames, in either direction, that is lost. */
  readonly dropFrames?: number;
  /** So many of the last parameters are not there yet, as with a PX4 whose modules are still to start. */
  readonly lateParams?: number;
  /** Names whose PARAM_SET is answered with the value as it was. Replaces the ones before. */
  readonly paramReadonly?: readonly string[];
  /** Limits that a PARAM_SET is clipped to, by name. Replaces the ones before. */
  readonly paramClamp?: Readonly<Record<string, readonly [low: number, high: number]>>;
  /** DO_SET_MODE is acknowledged twice, as PX4 does when two of its modules answer. */
  readonly doubleAck?: boolean;
  /** SETUP_SIGNING has no effect. */
  readonly refuseSigning?: boolean;
  /** The next N lists that it takes: ArduPilot holds none afterwards, PX4 the new one only after the one before was told once more. */
  readonly loseLists?: number;
  /** Hears no signed frame, as a vehicle with another key; what it sends is as before. */
  readonly signingDeaf?: boolean;
  /** The person at the vehicle does not do what a calibration asks for: it moves, and lies as before. */
  readonly clumsy?: boolean;
  /** µs of the first channels of the pilot's radio: its sticks and switches are moved. The others rest; replaces those before. */
  readonly radio?: readonly number[];
  /** The receiver hears no radio. */
  readonly radioLost?: boolean;
  /** Power cycle: closes the client, forgets everything but the parameters. */
  readonly reboot?: true;
}

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
