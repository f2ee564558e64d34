import { ApiError } from '../../../shared/errors.ts';
import type { CommandName } from '../../../shared/flight/command-catalogue.ts';

/** What a command is about. */
type Subject = 'motors' | 'course' | 'home' | 'speed' | 'camera' | 'payload' | 'checks' | 'reboot';

const SUBJECTS: Readonly<Record<CommandName, Subject>> = {
  arm: 'motors',
  disarm: 'motors',
  killSwitch: 'motors',
  takeoff: 'course',
  land: 'course',
  rtl: 'course',
  mode: 'course',
  goto: 'course',
  stop: 'course',
  missionStart: 'course',
  pauseMission: 'course',
  resumeMission: 'course',
  missionSetCurrent: 'course',
  orbit: 'course',
  yaw: 'course', // PX4 changes its mode for it
  speed: 'speed',
  roi: 'camera',
  roiClear: 'camera',
  photo: 'payload',
  gimbal: 'camera',
  servo: 'payload',
  relay: 'payload',
  parachute: 'payload',
  setHome: 'home',
  runPrearmChecks: 'checks',
  motorTest: 'motors',
  rebootAutopilot: 'reboot',
};

/** Commands that cancel all earlier ones: nothing else matters when the motors must stop. */
const ENDS_ALL: ReadonlySet<CommandName> = new Set(['disarm', 'killSwitch']);

/** Commands that start motors; missionStart is one because PX4 arms with it. */
const STARTS_MOTORS: ReadonlySet<CommandName> = new Set(['arm', 'missionStart', 'motorTest']);

interface Underway {
  readonly cmd: CommandName;
  readonly key: string;
  /** Which servo or relay. */
  readonly thing: string;
  readonly abort: AbortController;
}

/** The right of one command to be sent, among those under way. */
export interface Turn {
  /** Aborted when the client disconnects or a newer command replaces this one; never for a killSwitch. */
  readonly signal: AbortSignal;
  /** Call it just before sending: it cancels older commands. An invalid request is refused before that, and cancels nothing. */
  claim(): void;
  end(): void;
}

/**
 * The newest command about a thing is the one that counts. An older one that still waits for its ack must not be sent again
 * after it: a `goto` whose ack was lost would otherwise fly on over the `stop` that followed. The same request again does not
 * cancel the first.
 *
 * A killSwitch is the exception: until it is acknowledged or all its sends are used up, nothing cancels it, not even its
 * client's disconnect, and commands that would start the motors are refused.
 */
export class Precedence {
  readonly #underway = new Set<Underway>();

  /** @throws ApiError E_BUSY for what starts motors while a killSwitch is under way */
  begin(cmd: CommandName, args: readonly (number | string)[], client: AbortSignal | undefined): Turn {
    // A take-off that arms, too.
    if ((STARTS_MOTORS.has(cmd) || (cmd === 'takeoff' && args[1] === 1)) && this.killing) {
      throw new ApiError(
        'E_BUSY',
        `${cmd} was not sent: a killSwitch is under way that the vehicle has not acknowledged. Try again when it has ended.`,
      );
    }
    const kill = cmd === 'killSwitch';
    const own: Underway = {
      cmd,
      key: `${cmd} ${args.join(' ')}`,
      thing: `${cmd} ${args[0] ?? ''}`,
      abort: new AbortController(),
    };
    this.#underway.add(own);
    let claimed = false;
    return {
      signal: client === undefined || kill ? own.abort.signal : AbortSignal.any([own.abort.signal, client]),
      claim: () => {
        if (!claimed) this.#endOlder(own);
        claimed = true;
      },
      end: () => {
        this.#underway.delete(own);
      },
    };
  }

  /** Whether a killSwitch is under way. */
  get killing(): boolean {
    for (const { cmd } of this.#underway) if (cmd === 'killSwitch') return true;
    return false;
  }

  /** Whether a command about its course is under way. */
  get steering(): boolean {
    for (const { cmd } of this.#underway) if (SUBJECTS[cmd] === 'course') return true;
    return false;
  }

  #endOlder(own: Underway): void {
    for (const older of this.#underway) {
      if (older === own) return; // a set keeps the order
      if (older.cmd === 'killSwitch') continue;
      const subject = SUBJECTS[older.cmd];
      const meant = ENDS_ALL.has(own.cmd)
        ? subject === 'motors' || subject === 'course'
        : subject === SUBJECTS[own.cmd] && (subject !== 'payload' || older.thing === own.thing);
      if (meant && older.key !== own.key) older.abort.abort();
    }
  }
}
