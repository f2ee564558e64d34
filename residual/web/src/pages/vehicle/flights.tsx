import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { vehicleLogOf } from '../../../../../shared/flight/vehicle-log-of.ts';
import type { RowId } from '../../../../../shared/routes/table.ts';
import type { Answer } from '../../api/rows.ts';
import { download } from '../../parts/files.ts';
import { moment, span } from '../../parts/format.ts';
import { Button, Card, ErrorNote } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './vehicle.module.css';

type Flight = Answer<'observability.sessions.get'>['data'][number];
type VehicleLogs = Answer<'flight-logs.get'>['logs'];

const EVERY_MS = 10_000;
const SHOWN = 20;
const MOST_EVENTS = 200;

/** Each flight with all that there is of it. @param logs those of the vehicle */
export function Flights({ logs }: { readonly logs: VehicleLogs }): JSX.Element {
  const [limit, setLimit] = useState(SHOWN);
  const { data, error, reload } = useAsk(
    'observability.sessions.get',
    { query: { kind: 'flight', limit } },
    EVERY_MS,
  );
  const act = useAct();
  const text = t.vehicle.flights;
  const flights = data?.data ?? [];
  const save = (row: RowId, name: string, params: Readonly<Record<string, string>>): void =>
    void act.run(async () => download(row, name, { params }));
  return (
    <Card title={text.title} wide>
      <ErrorNote error={error ?? act.error} onRetry={reload} />
      <p class="hint">{text.about}</p>
      {data !== null && flights.length === 0 ? <p>{text.none}</p> : null}
      {flights.map((flight, at) => {
        const log = vehicleLogOf(flight, flights[at - 1] ?? null, logs);
        return (
          <section key={flight.id} aria-label={text.one(flight.id)}>
            <h3>{text.when(flight.id, moment(flight.started_us / 1000), lengthOf(flight))}</h3>
            <div class="row">
              {flight.files?.tlogs.map((name) => (
                <Button
                  key={name}
                  row="tlogs.name.get"
                  onClick={() => save('tlogs.name.get', name, { name })}
                >
                  {text.tlog(name)}
                </Button>
              ))}
              {flight.files?.recordings.map((name) => (
                <Button
                  key={name}
                  row="video.recordings.name.get"
                  onClick={() => save('video.recordings.name.get', name, { name })}
                >
                  {text.recording(name)}
                </Button>
              ))}
              {log === null ? null : (
                <Button
                  row="flight-logs.id.get"
                  explain
                  busy={act.busy}
                  onClick={() =>
                    save('flight-logs.id.get', t.vehicle.logs.file(log.id), { id: String(log.id) })
                  }
                >
                  {text.vehicleLog(log.id)}
                </Button>
              )}
            </div>
            <Events flight={flight} />
          </section>
        );
      })}
      {flights.length === limit ? (
        <Button onClick={() => setLimit((now) => now + SHOWN)}>{text.older}</Button>
      ) : null}
    </Card>
  );
}

function lengthOf({ span_us: us }: Flight): string {
  return us === null ? t.vehicle.flights.goesOn : span(us / 1e6);
}

function Events({ flight }: { readonly flight: Flight }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details class={css['events']} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.vehicle.flights.events(flight.event_count)}</summary>
      {/* Asked again when there are more: a flight may go on. */}
      {open ? <EventList key={flight.event_count} session={flight.id} /> : null}
    </details>
  );
}

function EventList({ session }: { readonly session: number }): JSX.Element {
  const { data, error, reload } = useAsk('observability.query.get', {
    query: { kind: 'events', session, limit: MOST_EVENTS },
  });
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      <ul>
        {data?.data.toReversed().map(({ id, ts_us: at, kind, detail }) => (
          <li key={id}>
            <time>{moment(at / 1000)}</time> {kind} {wordsOf(detail)}
          </li>
        ))}
      </ul>
    </>
  );
}

/** `name` and the like, without the brackets of JSON. */
function wordsOf(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null) return '';
  return Object.values(detail)
    .filter((value) => value !== null)
    .map(String)
    .join(' ');
}
