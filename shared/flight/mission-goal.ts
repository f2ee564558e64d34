import { recordOf } from '../member.ts';
import { disarmed, type GoalEnd, Modes, SETTLED_MS } from './goals.ts';
import type { SeenVehicle } from './seen.ts';

/** When a mission has been flown. Numbers are the vehicle's own, as `GET /api/mission` has them; null: never received. */

export interface SeenMission {
  readonly current: number | null;
  readonly reached: number | null;
  readonly total: number | null;
  readonly state: string | null;
}

export interface MissionGoal {
  /** What happens meanwhile, with the item under way. */
  readonly doing: string;
  readonly judge: (seen: SeenVehicle & { readonly mission: SeenMission }, ms: number) => GoalEnd | null;
}

export function missionIn(telemetry: unknown): SeenMission {
  const mission = recordOf(recordOf(telemetry)['mission']);
  const number = (name: string): number | null => {
    const value = mission[name];
    return typeof value === 'number' ? value : null;
  };
  const state = mission['state'];
  return {
    current: number('current'),
    reached: number('reached'),
    total: number('total'),
    state: typeof state === 'string' ? state : null,
  };
}

/**
 * A mission that was started, until its last item is reached or it has landed.
 * @param first the number of its first item: 1 of ArduPilot, 0 of PX4
 */
export function missionGoal(before: string | null, first: number): MissionGoal {
  const modes = new Modes(before);
  const isDisarmed = disarmed();
  /** What it had reached before, which is none of this flight. */
  let old: number | null | undefined;
  let doing = 'flying the mission';
  return {
    get doing() {
      return doing;
    },
    judge: (seen, ms) => {
      const { current, reached, total, state } = seen.mission;
      const last = total === null || total === 0 ? null : first + total - 1;
      if (current !== null && last !== null) doing = `flying the mission, item ${current} of ${last}`;
      if (old === undefined) old = reached;
      else if (reached !== old) old = null;
      const isLast = last !== null && ((reached === last && old === null) || state === 'complete');
      const isOver = isLast || (last !== null && (current ?? 0) >= last);
      if (isDisarmed(seen, ms)) return isOver ? 'reached' : 'disarmed';
      // On the ground it has not begun; and what flies home or lands by its last item, still flies.
      if (isLast && ms >= SETTLED_MS && seen.armed === true) return 'reached';
      return modes.isForeign(seen.mode, ms) ? 'mode_changed' : null;
    },
  };
}
