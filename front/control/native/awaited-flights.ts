import { ApiError } from '../../../shared/errors.ts';
import { type Goal, type GoalEnd, type GoalName, goalOf } from '../../../shared/flight/goals.ts';
import { type SeenVehicle, seenIn, stateLine } from '../../../shared/flight/seen.ts';
import type { OnProgress } from '../../../shared/routes/handler.ts';
import type { CommandRequest } from '../../../shared/rpc/link.ts';
import type { CommandResult } from '../../../shared/rpc/link-answers.ts';
import { telemetryOf } from '../../../shared/rpc/telemetry-body.ts';
import type { VehicleView } from '../node/vehicle-view.ts';

/** No heartbeat for so long: nobody knows what the vehicle does. */
const LOST_MS = 10_000;
const CHECK_MS = 500;
/** A client that goes away cancels nothing, so waits are counted, not connections. */
const MAX_WAITS = 32;

/** What became of a command that was accepted. */
export interface Flown extends CommandResult {
  readonly done?: boolean;
  readonly ended?: GoalEnd | 'timeout' | 'link_lost';
  readonly waited_s?: number;
  /** The last state of the vehicle in one line, for people. */
  readonly state?: string;
}

/** Commands that answer when the vehicle has done them. Waiting only watches; its end changes nothing. */
export class AwaitedFlights {
  readonly #vehicle: VehicleView;
  readonly #now: () => number;
  #waits = 0;

  /** @param now monotonic, ms */
  constructor(vehicle: VehicleView, now: () => number) {
    this.#vehicle = vehicle;
    this.#now = now;
  }

  /**
   * @param waitS the longest wait, s
   * @returns at once if the vehicle does not accept it
   * @throws ApiError as the RPC `command`; E_RATE_LIMITED when too many wait already, and then nothing was sent
   */
  async fly(
    request: CommandRequest & { readonly cmd: GoalName },
    waitS: number,
    progress: OnProgress,
  ): Promise<Flown> {
    if (this.#waits >= MAX_WAITS)
      throw new ApiError('E_RATE_LIMITED', 'Too many commands are waiting. Not sent.');
    this.#waits++;
    try {
      const { cmd, args } = request;
      const before = this.#vehicle.state?.telemetry.mode ?? null;
      const result = await this.#vehicle.link.command(request);
      if (result.status !== 'accepted') return result;
      return { ...result, ...(await this.#watch(goalOf(cmd, args.map(Number), before), waitS, progress)) };
    } finally {
      this.#waits--;
    }
  }

  async #watch(
    goal: Goal,
    waitS: number,
    progress: OnProgress,
  ): Promise<Required<Pick<Flown, 'done' | 'ended' | 'waited_s' | 'state'>>> {
    const began = this.#now();
    let heardAt = began;
    let last: SeenVehicle | null = null;
    const { place = null } = goal;
    return new Promise((resolve) => {
      const elapsed = (): number => this.#now() - began;
      const end = (ended: NonNullable<Flown['ended']>): void => {
        unsubscribe();
        clearInterval(timer);
        const waited_s = Math.round(elapsed() / 100) / 10;
        resolve({ done: ended === 'reached', ended, waited_s, state: stateLine(last, place) });
      };
      const look = (): void => {
        const { state } = this.#vehicle;
        if (state?.mavlink_alive !== true) return;
        heardAt = this.#now();
        last = seenIn(telemetryOf(state));
        const ended = goal.judge(last, elapsed());
        if (ended !== null) end(ended);
      };
      const unsubscribe = this.#vehicle.subscribe(look);
      const timer = setInterval(() => {
        const s = elapsed() / 1000;
        if (this.#now() - heardAt >= LOST_MS) end('link_lost');
        else if (s >= waitS) end('timeout');
        else progress({ done: s, total: waitS, text: `${goal.doing}: ${stateLine(last, place)}` });
      }, CHECK_MS);
    });
  }
}
