import { enabledFeatures } from '../../../shared/config/features.ts';
import { MAX_FLIGHT_FILES } from '../../../shared/fleet/flight.ts';
import type { Service } from '../../../shared/process/services.ts';
import type { Base } from '../base.ts';
import { FleetOutbox } from '../fleet-outbox.ts';
import { tlogFiles } from '../kept-logs.ts';
import type { Reporter } from '../reports/reporter.ts';
import { FlightTeller } from './flight-teller.ts';

const MAX_PILOTS = 16;
/** Logs of a flight or two, however often the clock is set. */
const MAX_BEFORE = 64;

interface FlightsOptions {
  /** The files of the recording that runs. */
  readonly recording: () => readonly string[];
}

/** Flights for the fleet; nothing where the node has no fleet. */
export function openFlights(
  base: Base,
  reporter: Reporter,
  { recording }: FlightsOptions,
): Omit<Service, 'name'> {
  const { config, paths, link, log } = base;
  if (!enabledFeatures(config).has('fleet')) return { stop: () => undefined };
  let isDisarmed = false;
  let writing: string | null = null;
  /** The log that was written last, and which one each was written after: by their names a clock that was set back turns them round. */
  let newest: string | null = null;
  const before = new Map<string, string>();
  const pilots = new Set<string>();
  const recordings = new Set<string>();
  const teller = new FlightTeller({
    paths,
    outbox: new FleetOutbox(paths),
    tlogs: tlogFiles(paths),
    reporter,
    withTracks: config.fleet.flight_tracks,
    isDisarmed: () => isDisarmed,
    writing: () => writing,
    before: (name) => before.get(name) ?? null,
    seen: () => {
      const seen = {
        pilots: pilots.size === 0 ? null : [...pilots].toSorted(),
        recordings: [...recordings].toSorted(),
      };
      pilots.clear();
      recordings.clear();
      return seen;
    },
    log,
  });
  const wrote = (name: string): void => {
    if (name === newest) return;
    for (const [each, last] of before) if (last === name) before.delete(each); // that one was deleted since
    if (newest !== null) before.set(name, newest);
    newest = name;
    const [oldest] = before.keys();
    if (before.size > MAX_BEFORE && oldest !== undefined) before.delete(oldest);
  };
  const disarmed = (now: boolean): void => {
    if (now === isDisarmed) return;
    isDisarmed = now;
    if (now) teller.look();
  };
  link.follow({
    state: ({ guard, tlog, commander }) => {
      writing = tlog.name;
      if (writing !== null) wrote(writing);
      if (guard === true && commander !== null && pilots.size < MAX_PILOTS) pilots.add(commander);
      if (guard === true)
        for (const name of recording()) if (recordings.size < MAX_FLIGHT_FILES) recordings.add(name);
      disarmed(guard === false);
    },
    connection: () => disarmed(false), // until svc-link has said otherwise
  });
  return { start: async () => teller.start(), stop: async () => teller.stop() };
}
