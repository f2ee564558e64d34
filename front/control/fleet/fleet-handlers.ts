import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { fleetRows } from '../../../shared/routes/fleet.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import type { FleetLinkState } from '../../../shared/rpc/fleet.ts';
import type { Enrolment } from './enrolment.ts';

/** So that svc-fleet still carries the answer, where it carried the request. */
const PARTING_MS = 500;

interface FleetDeps {
  readonly enrolment: Enrolment;
  /** The nodes whose radios are bound to this one's. */
  readonly peers: () => Answer<'fleet.peers.get'>['peers'];
  /** What svc-fleet has told; null if it does not run. */
  readonly link: () => FleetLinkState | null;
  readonly policySeq: () => number | null;
  /** Starts or stops svc-fleet, by whether this node is enrolled. */
  readonly restartFleet: () => Promise<unknown>;
  readonly log: Logger;
}

export function fleetHandlers(deps: FleetDeps): HandlersOf<typeof fleetRows, 'front'> {
  const { enrolment, peers, restartFleet, log } = deps;
  const link = () =>
    enrolment.place() === null ? null : { ...(deps.link() ?? NOT_TOLD), policy_seq: deps.policySeq() };
  const enrollment = () => {
    const { view } = enrolment;
    const { connected = false, problem = null, events_behind = null } = link() ?? {};
    const last_error = view.problem ?? problem;
    return { ...view, fleet_id: view.fleet, connected, queued_events: events_behind, last_error };
  };
  /** The enrolment is on the disk: a supervisor that is away starts by it when it comes. */
  const followSoon = (): void => {
    setTimeout(() => {
      restartFleet().catch((error: unknown) =>
        log.error(`fleet: svc-fleet was not restarted: ${messageOf(error)}`),
      );
    }, PARTING_MS);
  };
  return {
    'fleet.get': () => ({ enrollment: enrollment(), link: link(), peers: peers() }),

    'fleet.enrollment.get': () => enrollment(),

    'fleet.peers.get': () => ({ peers: peers() }),

    'fleet.enroll.post': async ({ body: { hub, code } }) => {
      await enrolment.enrol(hub, code);
      followSoon();
      return enrollment();
    },

    'fleet.enrollment.delete': async () => {
      const fleet = await enrolment.leave();
      followSoon();
      return { enrolled: false, fleet, hub_told: false };
    },
  };
}

const NOT_TOLD = {
  connected: false,
  via: null,
  problem: 'svc-fleet does not run',
  events_behind: null,
  oldest_event_at: null,
  events_dropped: null,
  telemetry_dropped: null,
  acknowledged_at: null,
} as const;
