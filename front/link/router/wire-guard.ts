import type { Scope } from '../../../shared/auth/scopes.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import { type FrameTarget, targetOf } from './addresses.ts';
import {
  COMMAND_AT,
  COMPONENT_ARM_DISARM,
  GUARDED_COMMANDS,
  isForKeyAlone,
  scopeOfFrame,
  writesByFtp,
} from './frame-scope.ts';

/** What an endpoint's peer may do to the vehicle. */
export interface WirePolicy {
  /** False for a read-only peer. */
  readonly mayWrite: boolean;
  /** The armed guard is overridden for it. */
  readonly force: boolean;
  /** SERIAL_CONTROL gives access to the flight controller's other ports, such as a GPS or a radio. */
  readonly serialControl: boolean;
  /** How the client calls itself, null for nobody; undefined where the rule of the pilot in command does not count. */
  readonly clientId?: string | null | undefined;
  /** Of a token: what it holds. Null or absent for a peer without scopes. */
  readonly scopes?: readonly Scope[] | null | undefined;
}

/** `unsigned`: the vehicle accepts only signed frames, and this one cannot or must not be signed. */
export type WireRefusal =
  | 'read-only'
  | 'armed'
  | 'serial-control'
  | 'unsigned'
  | 'killing'
  | 'not-pilot'
  | 'scope';

/** Who alone may send frames that fly. */
export interface PilotRule {
  readonly clientId: () => string | null;
  readonly flies: (frame: Frame) => boolean;
}

const NO_PILOT: PilotRule = { clientId: () => null, flies: () => false };

/**
 * The armed guard on the wire (docs/contract.md 6): while the vehicle is armed, or its state is unknown, a peer without the
 * override can not write parameters (by message or through MAVLink FTP), set up signing, use storage commands, calibrate, erase the logs or reboot. Everything else is the pilot's decision and passes, except arming while our own killSwitch is not acknowledged: its next send
 * would stop the motors again.
 */
export class WireGuard {
  readonly #armed: (target: FrameTarget) => Armed;
  readonly #killing: () => boolean;
  readonly #pilot: PilotRule;
  readonly #payload = new Payload();

  /** @param armed the state of whom a frame is for
   * @param killing whether a killSwitch of ours is under way */
  constructor(
    armed: (target: FrameTarget) => Armed,
    killing: () => boolean = () => false,
    pilot: PilotRule = NO_PILOT,
  ) {
    this.#armed = armed;
    this.#killing = killing;
    this.#pilot = pilot;
  }

  /** Why a peer's frame is refused, null if it may pass. @param forVehicle whether it would reach the vehicle */
  judge(frame: Frame, policy: WirePolicy, forVehicle: boolean): WireRefusal | null {
    if (!policy.mayWrite) return 'read-only';
    if (!forVehicle) return null;
    if (frame.id === MSG.SERIAL_CONTROL && !policy.serialControl) return 'serial-control';
    if (this.#lacksScope(frame, policy)) return 'scope';
    if (this.#isAnothers(policy) && this.#pilot.flies(frame)) return 'not-pilot';
    if (this.#killing() && this.#isArming(frame)) return 'killing';
    if (policy.force || !this.#isGuarded(frame)) return null;
    return this.#armed(targetOf(frame)) === false ? null : 'armed';
  }

  /** A frame needs what the row that does the same needs (docs/contract.md 4.10). */
  #lacksScope(frame: Frame, { scopes }: WirePolicy): boolean {
    if (scopes === undefined || scopes === null) return false;
    if (isForKeyAlone(frame)) return true;
    const needed = scopeOfFrame(frame, this.#payload);
    return needed !== null && !scopes.includes(needed);
  }

  /** Somebody else than this peer is pilot in command. */
  #isAnothers({ clientId }: WirePolicy): boolean {
    if (clientId === undefined) return false;
    const pilot = this.#pilot.clientId();
    return pilot !== null && pilot !== clientId;
  }

  #isArming(frame: Frame): boolean {
    if (frame.id !== MSG.COMMAND_LONG && frame.id !== MSG.COMMAND_INT) return false;
    const payload = this.#payload.load(frame);
    return payload.u16(COMMAND_AT) === COMPONENT_ARM_DISARM && payload.f32(0) === 1;
  }

  #isGuarded(frame: Frame): boolean {
    switch (frame.id) {
      case MSG.PARAM_SET:
      case MSG.SETUP_SIGNING:
      case MSG.LOG_ERASE:
      case MSG.SERIAL_CONTROL: // a shell behind it writes parameters and reboots
        return true;
      case MSG.COMMAND_LONG:
      case MSG.COMMAND_INT:
        return GUARDED_COMMANDS.has(this.#payload.load(frame).u16(COMMAND_AT));
      case MSG.FILE_TRANSFER_PROTOCOL:
        return writesByFtp(this.#payload.load(frame));
      default:
        return false;
    }
  }
}
