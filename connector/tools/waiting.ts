import { setTimeout as delay } from 'node:timers/promises';
import type { GoalEnd } from '../../shared/flight/goals.ts';
import { type MissionGoal, missionIn, type SeenMission } from '../../shared/flight/mission-goal.ts';
import { type Place, type SeenVehicle, seenIn, stateLine } from '../../shared/flight/seen.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { Denial, type Reason } from '../denial.ts';
import type { ToolContext } from './tool.ts';

/**
 * Waiting for the vehicle: the node's telemetry is read twice a second until a goal is reached, cannot be reached any more, or
 * the time is over. It only reads, and it holds nothing.
 */

/** Clients of MCP usually give a call up after 60 s. */
const USUAL_S = 50;
export const TIMEOUT: JsonSchema = {
  type: 'integer',
  minimum: 1,
  maximum: 600,
  default: USUAL_S,
  description: 's',
};

const POLL_MS = 500;
const LOOK_MS = 3000;
/** No heartbeat, or no node, for so long: nobody knows what the vehicle does. */
const LOST_MS = 10_000;
/** These pass, or last long enough to count as a lost link. */
const PASSING: ReadonlySet<Reason> = new Set(['rest_down', 'fc_unreachable', 'rate_limited']);

/** Why a wait ended; `unseen`: the caller may not read the telemetry. */
export type Ended = GoalEnd | 'timeout' | 'link_lost' | 'unseen';

export type Watched = SeenVehicle & { readonly mission: SeenMission };

/** A goal; what it is `doing` may change. */
interface WaitRequest extends MissionGoal {
  /** Where it goes to, for the last state line. */
  readonly place?: Place | null;
  readonly timeoutS: unknown;
  /** Whether the vehicle was told something, which a cancelled wait does not take back. */
  readonly acted: boolean;
}

interface Waited {
  readonly ended: Ended;
  readonly waited_s: number;
  /** The last state of the vehicle, in one line. */
  readonly state: string;
  /** Why nothing was seen. */
  readonly problem?: string;
}

/** The vehicle now, or why it cannot be seen. @throws Denial cancelled */
export async function look({ ask, signal }: Pick<ToolContext, 'ask' | 'signal'>): Promise<Watched | Denial> {
  try {
    const telemetry = await ask('telemetry.get', { timeoutMs: LOOK_MS });
    return { ...seenIn(telemetry), mission: missionIn(telemetry) };
  } catch (error) {
    if (!(error instanceof Denial) || signal.aborted) throw error;
    return error;
  }
}

/** @throws Denial cancelled, which says that the vehicle goes on */
export async function waitFor(context: ToolContext, waiting: WaitRequest): Promise<Waited> {
  const { signal, progress } = context;
  const { judge, acted, place = null, timeoutS } = waiting;
  const mostMs = Number(timeoutS ?? USUAL_S) * 1000;
  const began = performance.now();
  let last: SeenVehicle | null = null;
  let heardAt = began;
  const end = (ended: Ended, problem?: string): Waited => ({
    ended,
    waited_s: Math.round((performance.now() - began) / 100) / 10,
    state: stateLine(last, place),
    ...(problem === undefined ? {} : { problem }),
  });
  try {
    for (;;) {
      const seen = await look(context);
      const now = performance.now();
      const problem = seen instanceof Denial ? seen : null;
      if (problem !== null && !PASSING.has(problem.reason)) return end('unseen', problem.message);
      if (!(seen instanceof Denial) && seen.alive) {
        [last, heardAt] = [seen, now];
        const ended = judge(seen, now - began);
        if (ended !== null) return end(ended);
      } else if (now - heardAt >= LOST_MS) return end('link_lost', problem?.message);
      if (now - began >= mostMs) return end('timeout');
      progress((now - began) / 1000, mostMs / 1000, `${waiting.doing}: ${stateLine(last, place)}`);
      await delay(Math.min(POLL_MS, Math.max(1, mostMs - (now - began))), undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    const goesOn = acted ? ` The vehicle was not stopped: it goes on (${waiting.doing}).` : '';
    throw new Denial(
      'cancelled',
      `The waiting was cancelled.${goesOn} Last state: ${stateLine(last, place)}.`,
      {},
      acted,
    );
  }
}
