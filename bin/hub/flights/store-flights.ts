import type { FleetEvent } from '../../../shared/fleet/told.ts';
import { MAX_BATTERIES } from '../../../shared/hub-api/flight-schemas.ts';
import type { Queries } from '../database/tables.ts';
import type { FlightShares } from './flight-shares.ts';
import { type ToldFlight, toldFlight } from './told-flight.ts';

/** No flight of these nodes is older: an earlier date is that of a clock that was never set. */
const FIRST_DATE = Date.UTC(2020);
/** Deleted in one turn, of a node that had more. */
const BATTERIES_AT_ONCE = 1000;

interface ToldFlightEvent {
  readonly node: string;
  readonly event: Pick<FleetEvent, 'detail'>;
  /** When the hub heard of it. */
  readonly at: number;
}

/**
 * Stores flights that nodes have told, each once, and adds them to the sums.
 * @param on the transaction that stores their events. @param shares told what was stored
 */
export async function storeFlights(
  on: Queries,
  told: readonly ToldFlightEvent[],
  shares: FlightShares,
): Promise<void> {
  // Of two transactions at once each takes the rows in the same order, so that none waits for the other for ever.
  for (const { node, event, at } of told.toSorted((a, b) => a.node.localeCompare(b.node))) {
    const flight = toldFlight(event.detail, at);
    if (flight === null) continue;
    await shares.count(on, node);
    const texts = await store(on, node, flight, at);
    if (texts !== null) shares.add(node, texts);
  }
}

/** @returns null: it was told before */
async function store(
  on: Queries,
  node: string,
  flight: ToldFlight,
  at: number,
): Promise<Parameters<FlightShares['add']>[1] | null> {
  const { battery, track: points, pilots, findings, worst, vehicle, modes, log, files, ...figures } = flight;
  const texts = {
    pilots: JSON.stringify(pilots ?? []),
    detail: JSON.stringify({ vehicle, modes, findings, log, files }),
  };
  const track = points === null ? null : JSON.stringify(points);
  const { id: batteryId, ...charge } = battery;
  const row = await on
    .insertInto('flights')
    .values({
      node,
      ...figures,
      ...charge,
      battery: batteryId,
      received_at: at,
      findings: findings.length,
      worst,
      ...texts,
    })
    .onConflict((conflict) => conflict.columns(['node', 'flight']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return null;
  if (track !== null) await on.insertInto('flight_tracks').values({ id: row.id, track }).execute();
  await add(on, node, '', flight, at);
  const isNew = batteryId !== null && (await add(on, node, batteryId, flight, at));
  if (isNew) await forgetBatteries(on, node, batteryId);
  return { ...texts, track };
}

/** Those that have not flown for longest, where this one is one too many; and what was noted of them. */
async function forgetBatteries(on: Queries, node: string, newest: string): Promise<void> {
  const over = await on
    .selectFrom('flight_sums')
    .select('battery')
    .where('node', '=', node)
    .where('battery', 'not in', ['', newest])
    .orderBy('last_at', 'desc')
    .orderBy('battery')
    .offset(MAX_BATTERIES - 1)
    .limit(BATTERIES_AT_ONCE)
    .execute();
  if (over.length === 0) return;
  const batteries = over.map(({ battery }) => battery);
  for (const table of ['flight_sums', 'maintenance'] as const)
    await on.deleteFrom(table).where('node', '=', node).where('battery', 'in', batteries).execute();
}

/** @returns whether it is the first of this airframe or battery */
async function add(
  on: Queries,
  node: string,
  battery: string,
  { started_at, armed_s, airborne_s, distance_m }: ToldFlight,
  at: number,
): Promise<boolean> {
  const first_at = started_at >= FIRST_DATE && started_at <= at ? started_at : at;
  const before = await on
    .selectFrom('flight_sums')
    .select('node')
    .where('node', '=', node)
    .where('battery', '=', battery)
    .executeTakeFirst();
  await on
    .insertInto('flight_sums')
    .values({
      node,
      battery,
      // Armed on the ground, or a motor test, is no flight; where nobody measured whether it flew, it is one.
      flights: airborne_s === 0 ? 0 : 1,
      armed_s,
      airborne_s: airborne_s ?? 0,
      distance_m: distance_m ?? 0,
      first_at,
      last_at: at,
    })
    .onConflict((conflict) =>
      conflict.columns(['node', 'battery']).doUpdateSet((eb) => ({
        flights: eb('flight_sums.flights', '+', eb.ref('excluded.flights')),
        armed_s: eb('flight_sums.armed_s', '+', eb.ref('excluded.armed_s')),
        airborne_s: eb('flight_sums.airborne_s', '+', eb.ref('excluded.airborne_s')),
        distance_m: eb('flight_sums.distance_m', '+', eb.ref('excluded.distance_m')),
        first_at: eb
          .case()
          .when('excluded.first_at', '<', eb.ref('flight_sums.first_at'))
          .then(eb.ref('excluded.first_at'))
          .else(eb.ref('flight_sums.first_at'))
          .end(),
        last_at: eb.ref('excluded.last_at'),
      })),
    )
    .execute();
  return before === undefined;
}
