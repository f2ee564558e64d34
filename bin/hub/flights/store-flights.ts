import type { FleetEvent } from '../../../shared/fleet/told.ts';
import type { Queries } from '../database/tables.ts';
import { type ToldFlight, toldFlight } from './told-flight.ts';

interface Told {
  readonly node: string;
  readonly event: Pick<FleetEvent, 'detail'>;
  /** When the hub heard of it. */
  readonly at: number;
}

/** Stores flights that nodes have told, each once, and adds them to the sums. @param on the transaction that stores their events */
export async function storeFlights(on: Queries, told: readonly Told[]): Promise<void> {
  // Of two transactions at once each takes the rows in the same order, so that none waits for the other for ever.
  for (const { node, event, at } of told.toSorted((a, b) => a.node.localeCompare(b.node))) {
    const flight = toldFlight(event.detail);
    if (flight !== null) await store(on, node, flight, at);
  }
}

async function store(on: Queries, node: string, flight: ToldFlight, at: number): Promise<void> {
  const { battery, track, pilots, findings, worst, vehicle, modes, log, ...figures } = flight;
  const { id: batteryId, ...charge } = battery;
  const row = await on
    .insertInto('flights')
    .values({
      node,
      ...figures,
      ...charge,
      battery: batteryId,
      received_at: at,
      pilots: JSON.stringify(pilots ?? []),
      findings: findings.length,
      worst,
      detail: JSON.stringify({ vehicle, modes, findings, log }),
    })
    .onConflict((conflict) => conflict.columns(['node', 'flight']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return; // told before
  if (track !== null)
    await on
      .insertInto('flight_tracks')
      .values({ id: row.id, track: JSON.stringify(track) })
      .execute();
  for (const part of batteryId === null ? [''] : ['', batteryId]) await add(on, node, part, flight, at);
}

async function add(
  on: Queries,
  node: string,
  battery: string,
  { armed_s, airborne_s, distance_m }: ToldFlight,
  at: number,
): Promise<void> {
  await on
    .insertInto('flight_sums')
    .values({
      node,
      battery,
      flights: 1,
      armed_s,
      airborne_s: airborne_s ?? 0,
      distance_m: distance_m ?? 0,
      first_at: at,
      last_at: at,
    })
    .onConflict((conflict) =>
      conflict.columns(['node', 'battery']).doUpdateSet((eb) => ({
        flights: eb('flight_sums.flights', '+', eb.ref('excluded.flights')),
        armed_s: eb('flight_sums.armed_s', '+', eb.ref('excluded.armed_s')),
        airborne_s: eb('flight_sums.airborne_s', '+', eb.ref('excluded.airborne_s')),
        distance_m: eb('flight_sums.distance_m', '+', eb.ref('excluded.distance_m')),
        last_at: eb.ref('excluded.last_at'),
      })),
    )
    .execute();
}
