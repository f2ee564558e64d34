import type { Bases } from '../../../shared/mission/goal-frames.ts';
import {
  checkReach,
  checkReachOf,
  type Goal,
  hasAreas,
  type ReachFacts,
  reaches,
} from '../../../shared/mission/reach.ts';
import type { MissionItem } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { inTime } from './in-time.ts';
import { flies } from './maneuvers.ts';

/** Where the vehicle was before that does not tell how far a place is. */
const PLACE_S = 10;
/** So long a command waits for the list of the fence; the vehicle's own refusal must do then. */
const FENCE_MS = 2000;
/** The same for a mission. */
const MISSION_MS = 2000;

interface ReachCheckOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  /** `flight.max_goto_m` */
  readonly maxM: number;
  readonly param: ReachFacts['param'];
  readonly fence: HeldList;
  readonly mission: HeldList;
}

interface HeldList {
  /** As it was read, while that holds; null: not known. */
  readonly kept: () => readonly MissionItem[] | null;
  /** Rejects where it cannot be read. */
  readonly read: () => Promise<readonly MissionItem[]>;
}

/** Whether a place is too far for this vehicle now (reach.ts). */
export class ReachCheck {
  readonly #options: ReachCheckOptions;

  constructor(options: ReachCheckOptions) {
    this.#options = options;
  }

  /** By what is known already. @throws ApiError E_TOO_FAR */
  atOnce(cmd: string, goal: Goal): void {
    checkReach(cmd, goal, this.#known(this.#options.fence.kept()));
  }

  /** As `atOnce`; a fence that the vehicle heeds and that is not known is read first. @throws ApiError E_TOO_FAR */
  async check(cmd: string, goal: Goal): Promise<void> {
    const { clock, fence } = this.#options;
    this.atOnce(cmd, goal);
    if (fence.kept() !== null || !hasAreas(this.#known(null))) return;
    checkReach(cmd, goal, this.#known(await inTime(clock, FENCE_MS, fence.read())));
  }

  /** Every place of a list, as `check` for one. @param what the command or the part, for the sentence @throws ApiError E_TOO_FAR */
  async checkAll(what: string, items: readonly MissionItem[], mayBeNowhere = false): Promise<void> {
    const { clock, fence } = this.#options;
    const kept = fence.kept();
    checkReachOf(what, items, this.#known(kept), mayBeNowhere);
    if (kept !== null || !hasAreas(this.#known(null))) return;
    checkReachOf(what, items, this.#known(await inTime(clock, FENCE_MS, fence.read())), mayBeNowhere);
  }

  /** As `checkAll`, by what is known already. */
  allows(item: MissionItem, mayBeNowhere: boolean): boolean {
    return reaches([item], this.#known(this.#options.fence.kept()), mayBeNowhere);
  }

  /**
   * The mission that the vehicle holds, before it flies it. One that cannot be read in time, or of which the vehicle does not say that
   * it has it, is the vehicle's own to refuse.
   */
  async checkHeld(cmd: string): Promise<void> {
    const { clock, mission, vehicle } = this.#options;
    const has = (vehicle.telemetry.mission.total ?? 0) > 0;
    const items = mission.kept() ?? (has ? await inTime(clock, MISSION_MS, mission.read()) : null);
    if (items !== null) await this.checkAll(cmd, items);
  }

  get bases(): Bases {
    return this.#known(null);
  }

  #known(fence: readonly MissionItem[] | null): ReachFacts {
    const { vehicle, maxM, param } = this.#options;
    const { position, home, ages, mode, mav_type: mavType } = vehicle.telemetry;
    const isFresh = ages.position !== null && ages.position <= PLACE_S;
    return {
      maxM,
      here: isFresh ? placeOf(position) : null,
      home: homeOf(home),
      flies: flies({ family: vehicle.family, type: mavType, mode }),
      px4: vehicle.firmware === 'px4',
      param,
      fence,
    };
  }
}

function placeOf({
  lat,
  lon,
}: {
  readonly lat: number | null;
  readonly lon: number | null;
}): ReachFacts['here'] {
  return lat === null || lon === null ? null : { lat, lon };
}

function homeOf(home: {
  readonly lat: number | null;
  readonly lon: number | null;
  readonly alt_msl: number | null;
}): ReachFacts['home'] {
  const place = placeOf(home);
  return place === null ? null : { ...place, alt: home.alt_msl };
}
