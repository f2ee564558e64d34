import type { MissionItem } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import { inTime } from './in-time.ts';
import { checkReach, type Goal, hasAreas, type Known } from './reach.ts';

/** Where the vehicle was before that does not tell how far a place is. */
const PLACE_S = 10;
/** So long a command waits for the list of the fence; the vehicle's own refusal must do then. */
const FENCE_MS = 2000;

interface ReachCheckOptions {
  readonly clock: Clock;
  readonly vehicle: Vehicle;
  /** `flight.max_goto_m` */
  readonly maxM: number;
  readonly param: Known['param'];
  readonly fence: {
    /** As it was read, while that holds; null: not known. */
    readonly kept: () => readonly MissionItem[] | null;
    /** Rejects where it cannot be read. */
    readonly read: () => Promise<readonly MissionItem[]>;
  };
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

  #known(fence: readonly MissionItem[] | null): Known {
    const { vehicle, maxM, param } = this.#options;
    const { position, home, ages } = vehicle.telemetry;
    const isFresh = ages.position !== null && ages.position <= PLACE_S;
    return {
      maxM,
      here: isFresh ? placeOf(position) : null,
      home: placeOf(home),
      px4: vehicle.firmware === 'px4',
      param,
      fence,
    };
  }
}

function placeOf({ lat, lon }: { readonly lat: number | null; readonly lon: number | null }): Known['here'] {
  return lat === null || lon === null ? null : { lat, lon };
}
