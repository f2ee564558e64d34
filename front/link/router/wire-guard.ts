import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { Armed } from '../../../shared/rpc/link.ts';

/** What an endpoint's peer may do to the vehicle. */
export interface WirePolicy {
  /** False: it only listens. */
  readonly mayWrite: boolean;
  /** The armed guard is overridden for it. */
  readonly force: boolean;
  /** SERIAL_CONTROL reaches into the flight controller's other ports, a GPS or a radio among them. */
  readonly serialControl: boolean;
}

/** `unsigned`: the vehicle takes only what is signed, and this cannot be signed or must not. */
export type WireRefusal = 'read-only' | 'armed' | 'serial-control' | 'unsigned' | 'killing';

/** MAV_CMD */
const PREFLIGHT_STORAGE = 245;
const PREFLIGHT_REBOOT_SHUTDOWN = 246;
/** Where `command` stands in COMMAND_LONG and COMMAND_INT. */
export const COMMAND_AT = 28;
/** Where `payload` stands in FILE_TRANSFER_PROTOCOL, and the opcode in it. */
export const FTP_AT = 3;
const FTP_OPCODE_AT = FTP_AT + 3;
const COMPONENT_ARM_DISARM = 400;
/** OpenFileWO, CreateFile, WriteFile, RemoveFile, TruncateFile, Rename: `@PARAM` is written through them. */
const FTP_WRITES: ReadonlySet<number> = new Set([6, 7, 8, 11, 12, 13]);

/**
 * The armed guard on the wire (docs/contract.md 6): while the vehicle is armed, or nobody knows whether it is, a peer that has
 * no override neither writes parameters (by message or through MAVLink FTP) nor sets up signing, stores or reboots. All else
 * is the pilot's business and passes, but for an arming while our own killSwitch is not acknowledged: the next of its sends
 * would stop the motors again.
 */
export class WireGuard {
  readonly #armed: () => Armed;
  readonly #killing: () => boolean;
  readonly #payload = new Payload();

  /** @param killing whether a killSwitch of ours is under way */
  constructor(armed: () => Armed, killing: () => boolean = () => false) {
    this.#armed = armed;
    this.#killing = killing;
  }

  /** Why a peer's frame must not go on, null when it may. @param forVehicle whether it would reach the vehicle */
  judge(frame: Frame, policy: WirePolicy, forVehicle: boolean): WireRefusal | null {
    if (!policy.mayWrite) return 'read-only';
    if (!forVehicle) return null;
    if (frame.id === MSG.SERIAL_CONTROL && !policy.serialControl) return 'serial-control';
    if (this.#killing() && this.#isArming(frame)) return 'killing';
    if (policy.force || !this.#isGuarded(frame)) return null;
    return this.#armed() === false ? null : 'armed';
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
        return true;
      case MSG.COMMAND_LONG:
      case MSG.COMMAND_INT: {
        const command = this.#payload.load(frame).u16(COMMAND_AT);
        return command === PREFLIGHT_STORAGE || command === PREFLIGHT_REBOOT_SHUTDOWN;
      }
      case MSG.FILE_TRANSFER_PROTOCOL:
        return FTP_WRITES.has(this.#payload.load(frame).u8(FTP_OPCODE_AT));
      default:
        return false;
    }
  }
}
