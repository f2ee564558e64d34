import type { CommandName } from '../../shared/flight/command-catalogue.ts';

/** What a command is about. */
type Subject = 'motors' | 'course' | 'home';

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
  setHome: 'home',
};

/** Whoever wants the motors off wants nothing of what was asked before. */
const ENDS_ALL: ReadonlySet<CommandName> = new Set(['disarm', 'killSwitch']);

interface Underway {
  readonly cmd: CommandName;
  readonly key: string;
  readonly abort: AbortController;
}

/** A command's place among those under way. */
export interface Turn {
  /** Aborted when the client goes away, or when a newer command takes its place. */
  readonly signal: AbortSignal;
  end(): void;
}

/**
 * The newest command about a thing is the one that counts. An older one that still waits for its ack must not be sent again
 * after it: a `goto` whose ack was lost would otherwise fly on over the `stop` that followed. The same request
 * again takes nothing away from the first.
 */
export class Precedence {
  readonly #underway = new Set<Underway>();

  begin(cmd: CommandName, args: readonly (number | string)[], client: AbortSignal | undefined): Turn {
    const key = `${cmd} ${args.join(' ')}`;
    for (const older of this.#underway) {
      const subject = SUBJECTS[older.cmd];
      const meant = ENDS_ALL.has(cmd) ? subject !== 'home' : subject === SUBJECTS[cmd];
      if (meant && older.key !== key) older.abort.abort();
    }
    const own: Underway = { cmd, key, abort: new AbortController() };
    this.#underway.add(own);
    return {
      signal: client === undefined ? own.abort.signal : AbortSignal.any([own.abort.signal, client]),
      end: () => {
        this.#underway.delete(own);
      },
    };
  }
}
