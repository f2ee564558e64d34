import { Args, Flags } from '@oclif/core';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { vehicleLogOf } from '../../shared/flight/vehicle-log-of.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { tableOf } from '../cli/table.ts';
import { recordLine } from './logs/log-flags.ts';

type Flight = Answer<'observability.sessions.get'>['data'][number];
type Event = Answer<'observability.query.get'>['data'][number];
type VehicleLog = Answer<'flight-logs.get'>['logs'][number];

interface FlightWithFiles {
  readonly flight: Flight;
  readonly vehicle_log: VehicleLog | null;
  /** Why it is not known which log of the vehicle it is. */
  readonly vehicle_log_problem: string | null;
  readonly events: readonly Event[];
}

/** As many as the route gives. */
const MOST = 1000;
const MOST_EVENTS = 2000;
const NEVER = { log: null, problem: 'The flight goes on.' };

class FlightsCommand extends NodeCommand {
  static override summary = 'List the flights, or show all that there is of one.';
  static override description =
    'A flight lasts from arming to disarming. One has its telemetry logs, its recordings, what happened, and the log that the vehicle has written.';
  static override examples = ['<%= config.bin %> flights', '<%= config.bin %> flights 3'];
  static override args = { id: Args.integer({ description: 'its number in the list', min: 1 }) };
  static override flags = { limit: Flags.integer({ summary: '1 to 1000', default: 20, min: 1, max: MOST }) };

  async run(): Promise<{ readonly flights: readonly Flight[] } | FlightWithFiles> {
    const { args, flags } = await this.parse(FlightsCommand);
    const limit = args.id === undefined ? flags.limit : MOST;
    const { data } = await this.call('GET /api/observability/sessions', { query: { kind: 'flight', limit } });
    if (args.id !== undefined) return this.#one(data, args.id);
    for (const line of flightLines(data.toReversed())) this.log(line);
    if (data.length === 0) this.log('No flights.');
    return { flights: data };
  }

  /** @param flights newest first */
  async #one(flights: readonly Flight[], id: number): Promise<FlightWithFiles> {
    const at = flights.findIndex((each) => each.number === id);
    const flight = flights[at];
    if (flight === undefined) throw new ApiError('E_NOT_FOUND', `No flight ${id}.`);
    const { data } = await this.call('GET /api/observability/query', {
      query: { kind: 'events', session: flight.id, limit: MOST_EVENTS },
    });
    const events = data.toReversed();
    const { log, problem } =
      flight.ended_us === null ? NEVER : await this.#logOf(flight, flights.slice(0, at).toReversed());
    for (const line of flightLines([flight])) this.log(line);
    for (const name of flight.files?.tlogs ?? []) this.log(`telemetry log   ${name}   svc tlogs get ${name}`);
    for (const name of flight.files?.recordings ?? []) this.log(`recording       ${name}`);
    if (log !== null) this.log(`vehicle's log   ${log.id}, ${log.size} bytes   svc flightlogs get ${log.id}`);
    else this.log(`vehicle's log   ${problem ?? 'none of its logs is of this flight'}`);
    for (const event of events) this.log(recordLine(event));
    return { flight, vehicle_log: log, vehicle_log_problem: problem, events };
  }

  async #logOf(
    flight: Flight,
    later: readonly Flight[],
  ): Promise<{ readonly log: VehicleLog | null; readonly problem: string | null }> {
    try {
      const { logs } = await this.work('GET /api/flight-logs');
      return { log: vehicleLogOf(flight, later, logs), problem: null };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { log: null, problem: messageOf(error) }; // the vehicle may be away; the rest is here
    }
  }
}

function flightLines(flights: readonly Flight[]): readonly string[] {
  return tableOf(
    ['NO', 'STARTED', 'SECONDS', 'TLOGS', 'RECORDINGS', 'REASON'],
    flights.map(({ number, started_us: at, span_us: span, files, reason }) => [
      number,
      new Date(at / 1000).toISOString(),
      span === null ? null : Math.round(span / 1e6),
      files?.tlogs.length ?? 0,
      files?.recordings.length ?? 0,
      reason ?? '',
    ]),
  );
}

export default { flights: FlightsCommand };
