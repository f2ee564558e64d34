import { listOf, memberOf } from '../../shared/member.ts';
import { queryText } from '../../shared/routes/target.ts';
import { Denial } from '../denial.ts';
import { asRecord } from '../rows.ts';
import type { Tool } from './tool.ts';

const NEWEST = 50;

/** What the hub of a fleet keeps of flights. */
export const fleetFlightTools: readonly Tool[] = [
  {
    name: 'fleet_flights',
    title: 'Flights of the fleet',
    description: 'Newest flights, or one by `id`.',
    toolset: 'flight-logs',
    routes: [],
    input: {
      properties: {
        drone: { type: 'string', maxLength: 128, description: 'id or name of its node' },
        id: { type: 'integer', minimum: 0, description: 'of one flight' },
      },
    },
    idempotent: true,
    fleetWide: true,
    ofFleet: true,
    run: async ({ plane, principal, args }) => {
      if (plane.askHub === undefined)
        throw new Denial('not_supported', 'Only the hub of a fleet keeps flights: use --target fleet.');
      const { id, drone: wanted } = args;
      const own = principal.deviceId;
      const node = wanted === undefined ? own : plane.resolve(wanted, principal).target.id;
      if (id === undefined) {
        const answer = await plane.askHub(`/v1/flights${queryText({ node, limit: NEWEST })}`);
        return { value: { flights: listOf(memberOf(answer, 'flights')).map(asRecord) } };
      }
      // The track is for a map: thousands of figures.
      const flight = { ...asRecord(await plane.askHub(`/v1/flights/${Number(id)}`)), track: undefined };
      if (node !== null && memberOf(flight, 'node') !== node)
        throw new Denial('not_found', `There is no flight ${Number(id)}.`);
      return { value: { flights: [flight] } };
    },
  },
];
