import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/profile.ts';
import type { fleetRows } from '../../../shared/routes/fleet.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { FleetLinkState } from '../../../shared/rpc/fleet.ts';
import type { BoundRadios } from '../relay/bound-radios.ts';
import type { Enrolment } from './enrolment.ts';

/** So that svc-fleet still carries the answer, where it carried the request. */
const PARTING_MS = 500;

interface FleetDeps {
  readonly enrolment: Enrolment;
  readonly radios: BoundRadios;
  readonly profile: Profile;
  /** What svc-fleet has told; null if it does not run. */
  readonly link: () => FleetLinkState | null;
  readonly policySeq: () => number | null;
  /** Starts or stops svc-fleet, by whether this node is enrolled. */
  readonly restartFleet: () => Promise<unknown>;
  readonly log: Logger;
}

export function fleetHandlers(deps: FleetDeps): HandlersOf<typeof fleetRows, 'front'> {
  const { enrolment, radios, profile, restartFleet, log } = deps;
  const peers = () =>
    radios.list().map(({ device_id, name, slot, paired_at, proved }) => ({
      device_id,
      name,
      profile: profile === 'drone' ? 'ground-station' : 'drone',
      slot,
      paired_at,
      proved,
    }));
  const link = () =>
    enrolment.place() === null ? null : { ...(deps.link() ?? NOT_TOLD), policy_seq: deps.policySeq() };
  /** The enrolment is on the disk: a supervisor that is away starts by it when it comes. */
  const followSoon = (): void => {
    setTimeout(() => {
      restartFleet().catch((error: unknown) =>
        log.error(`fleet: svc-fleet was not restarted: ${messageOf(error)}`),
      );
    }, PARTING_MS);
  };
  return {
    'fleet.get': () => ({ enrollment: enrolment.view, link: link(), peers: peers() }),

    'fleet.enrollment.get': () => enrolment.view,

    'fleet.peers.get': () => ({ peers: peers() }),

    'fleet.enroll.post': async ({ body: { hub, code } }) => {
      await enrolment.enrol(hub, code);
      followSoon();
      return enrolment.view;
    },

    'fleet.enrollment.delete': async () => {
      const fleet = await enrolment.leave();
      followSoon();
      return { enrolled: false, fleet };
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
