import type { Scope } from '../../../shared/auth/scopes.ts';
import type { CommandClass } from '../../../shared/mavlink/command-classes.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { classOfFrame } from '../../../shared/mavlink/message-classes.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import { targetOf } from './addresses.ts';

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
  | 'scope'
  | 'too-far'
  | 'sticks';

/** Who alone may send frames that fly. */
export interface PilotRule {
  readonly clientId: () => string | null;
  readonly flies: (frame: Frame) => boolean;
}

/** What a token needs for each class of what it sends; null: no scope is enough. */
const NEEDED: Readonly<Record<CommandClass, Scope | null>> = {
  read: 'read',
  flight: 'flight',
  setup: 'admin',
  destructive: 'destructive',
  keyonly: null,
};

const NO_PILOT: PilotRule = { clientId: () => null, flies: () => false };

/**
 * The armed guard on the wire (docs/contract/flight.md): while the vehicle is armed, or its state is unknown, a peer without the
 * override sends nothing that sets it up otherwise or is for the pairing key (`shared/mavlink/command-classes.ts`). Everything else
 * is the pilot's decision and passes, except arming while our own killSwitch is not acknowledged: its next send would stop the
 * motors again.
 */
export class WireGuard {
  readonly #mayChange: (system: number) => boolean;
  readonly #killed: (frame: Frame) => boolean;
  readonly #pilot: PilotRule;
  readonly #isTooFar: (frame: Frame) => boolean;
  readonly #needsSticks: (frame: Frame) => boolean;
  readonly #payload = new Payload();

  /**
   * @param mayChange the armed guard's answer for the system that a frame is for; 0 for all
   * @param killed whether a killSwitch of ours is under way, and this frame would start motors
   * @param isTooFar whether `goto` would refuse the place that it sends the vehicle to
   * @param needsSticks whether the command `mode` would refuse the mode that it chooses
   */
  constructor(
    mayChange: (system: number) => boolean,
    killed: (frame: Frame) => boolean = () => false,
    pilot: PilotRule = NO_PILOT,
    isTooFar: (frame: Frame) => boolean = () => false,
    needsSticks: (frame: Frame) => boolean = () => false,
  ) {
    this.#mayChange = mayChange;
    this.#killed = killed;
    this.#pilot = pilot;
    this.#isTooFar = isTooFar;
    this.#needsSticks = needsSticks;
  }

  /** Why a peer's frame is refused, null if it may pass. @param forVehicle whether it would reach the vehicle */
  judge(frame: Frame, policy: WirePolicy, forVehicle: boolean): WireRefusal | null {
    if (!policy.mayWrite) return 'read-only';
    if (!forVehicle) return null;
    if (frame.id === MSG.SERIAL_CONTROL && !policy.serialControl) return 'serial-control';
    if (this.#lacksScope(frame, policy)) return 'scope';
    // Whoever flies without a token decides himself; MAVLink has neither `allow_far` nor `manual`.
    if (hasScopes(policy) && this.#isTooFar(frame)) return 'too-far';
    if (hasScopes(policy) && this.#needsSticks(frame)) return 'sticks';
    if (this.#isAnothers(policy) && this.#pilot.flies(frame)) return 'not-pilot';
    if (this.#killed(frame)) return 'killing';
    if (policy.force || !classOfFrame(frame, this.#payload).guarded) return null;
    return this.#mayChange(targetOf(frame).system) ? null : 'armed';
  }

  /** A frame needs what the row that does the same needs (docs/contract/edge.md#scope), and so does a socket that may send. */
  #lacksScope(frame: Frame, { scopes }: WirePolicy): boolean {
    if (scopes === undefined || scopes === null) return false;
    return classOfFrame(frame, this.#payload).classes.some((each) => {
      const needed = NEEDED[each];
      // Who may send at all may ask: a socket of a token that sends has `flight`.
      return each !== 'read' && (needed === null || !scopes.includes(needed));
    });
  }

  /** Somebody else than this peer is pilot in command. */
  #isAnothers({ clientId }: WirePolicy): boolean {
    if (clientId === undefined) return false;
    const pilot = this.#pilot.clientId();
    return pilot !== null && pilot !== clientId;
  }
}

function hasScopes({ scopes }: WirePolicy): boolean {
  return scopes !== undefined && scopes !== null;
}
