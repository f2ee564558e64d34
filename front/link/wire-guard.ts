import type { Armed } from '../../shared/ipc/link-protocol.ts';
import type { Frame } from '../../shared/mavlink/frame.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { Payload } from '../../shared/mavlink/payload.ts';

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
export type WireRefusal = 'read-only' | 'armed' | 'serial-control' | 'unsigned';

/** MAV_CMD */
const PREFLIGHT_STORAGE = 245;
const PREFLIGHT_REBOOT_SHUTDOWN = 246;
/** Where `command` stands in COMMAND_LONG and COMMAND_INT. */
const COMMAND_AT = 28;
/** Where `payload` stands in FILE_TRANSFER_PROTOCOL, and the opcode in it. */
const FTP_OPCODE_AT = 3 + 3;
/** OpenFileWO, CreateFile, WriteFile, RemoveFile, TruncateFile, Rename: `@PARAM` is written through them. */
const FTP_WRITES: ReadonlySet<number> = new Set([6, 7, 8, 11, 12, 13]);

/**
 * The armed guard on the wire (spec/decisions.md 6): while the vehicle is armed, or nobody knows whether it is, a peer that has
 * no override neither writes parameters (by message or through MAVLink FTP) nor sets up signing, stores or reboots. All else
 * is the pilot's business and passes.
 */
export class WireGuard {
  readonly #armed: () => Armed;
  readonly #payload = new Payload();

  constructor(armed: () => Armed) {
    this.#armed = armed;
  }

  /** Why a peer's frame must not go on, null when it may. @param forVehicle whether it would reach the vehicle */
  judge(frame: Frame, policy: WirePolicy, forVehicle: boolean): WireRefusal | null {
    if (!policy.mayWrite) return 'read-only';
    if (!forVehicle) return null;
    if (frame.id === MSG.SERIAL_CONTROL && !policy.serialControl) return 'serial-control';
    if (policy.force || !this.#isGuarded(frame)) return null;
    return this.#armed() === false ? null : 'armed';
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
