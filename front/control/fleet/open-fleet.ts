import { telemetryOf } from '../../../shared/rpc/telemetry-body.ts';
import { VERSION } from '../../../shared/version.ts';
import type { Base } from '../node/base.ts';
import type { BoundRadios } from '../relay/bound-radios.ts';
import { Enrolment } from './enrolment.ts';
import { fleetHandlers } from './fleet-handlers.ts';
import { FleetNode, type FleetNodeOptions } from './fleet-node.ts';
import { HubTurn } from './hub-turn.ts';
import { listed } from './node-status.ts';

interface FleetParts extends Pick<FleetNodeOptions, 'connection'> {
  readonly radios: BoundRadios;
  readonly otherEnd: {
    readonly silentMs: (device: string) => number | null;
    readonly addressOf: (slot: number) => string;
  };
  /** The body of GET /api/status, with the head of the record. */
  readonly status: () => Omit<ReturnType<FleetNodeOptions['status']>, keyof ReturnType<typeof listed>>;
}

/** The node's place in a fleet. */
export function openFleet(base: Base, { radios, otherEnd, status, connection }: FleetParts) {
  const { config, paths, profile, identity, vehicle, supervisor, now, monotonic, log } = base;
  const { device_id: id, name } = identity;
  const enrolment = new Enrolment({
    paths,
    node: { id, name, profile, version: VERSION },
    onPolicy: async (jws, of) => fleet.policyCame(jws, of),
    now,
    random: Math.random,
    log,
  });
  const fleet = new FleetNode({
    socketPath: paths.fleetSocket,
    policyFile: paths.fleetPolicy,
    node: id,
    operators: config.fleet.operators,
    scopes: config.fleet.scopes,
    watchedHz: config.fleet.watched_hz,
    pictures: config.fleet.pictures,
    enrolment,
    status: () => ({ ...status(), ...listed(vehicle.state?.telemetry ?? null, now()) }),
    telemetry: () => (vehicle.state === null ? null : telemetryOf(vehicle.state)),
    connection,
    now,
    monotonic,
    log,
  });
  const handlers = fleetHandlers({
    enrolment,
    peers: () =>
      radios.list().map(({ device_id, name: called, slot, paired_at, proved }) => {
        const silent = otherEnd.silentMs(device_id);
        return {
          device_id,
          name: called,
          profile: profile === 'drone' ? 'ground-station' : 'drone',
          via: 'radio',
          address: otherEnd.addressOf(slot),
          last_seen: silent === null ? null : new Date(now() - silent).toISOString(),
          slot,
          paired_at,
          proved,
        };
      }),
    link: () => fleet.link,
    policySeq: () => fleet.policy.seq,
    restartFleet: async () => supervisor.calls.restart({ name: 'svc-fleet' }),
    log,
  });
  const turn = new HubTurn({ enrolment, file: paths.fleetTurn, random: Math.random, log });
  /** The host of the hub's broker; null: the node is in no fleet. */
  const hub = (): string | null => {
    const place = enrolment.place();
    return place === null ? null : new URL(place.brokers[0] ?? '').hostname;
  };
  return { enrolment, fleet, turn, handlers, hub };
}
