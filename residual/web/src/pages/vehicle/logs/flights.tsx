import { ChartLine, Clapperboard, Download, FileText, ListOrdered, PlaneTakeoff } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { vehicleLogOf } from '../../../../../../shared/flight/vehicle-log-of.ts';
import type { RowId } from '../../../../../../shared/routes/table.ts';
import { may } from '../../../api/node.ts';
import type { Answer } from '../../../api/rows.ts';
import { download } from '../../../parts/files.ts';
import { moment, span } from '../../../parts/format.ts';
import { Asked, Badge, Button, Card, EmptyState, ErrorNote, Icon, Unfold } from '../../../parts/parts.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { FlightReport } from './flight-report.tsx';
import css from './logs.module.css';
import { viewHref } from './view-address.ts';

type Flight = Answer<'observability.sessions.get'>['data'][number];
type VehicleLog = Answer<'flight-logs.get'>['logs'][number];
type Save = (row: RowId, name: string, params: Readonly<Record<string, string>>) => void;

const EVERY_MS = 10_000;
const SHOWN = 20;
const MOST_EVENTS = 200;
const text = t.vehicle.flights;

/** Each flight with all that there is of it, the newest first. */
export function Flights(): JSX.Element {
  const [limit, setLimit] = useState(SHOWN);
  const asked = useAsk('observability.sessions.get', { query: { kind: 'flight', limit } }, EVERY_MS);
  const { data } = asked;
  const logs = useAsk('flight-logs.get').data?.logs ?? [];
  const act = useAct();
  const flights = data?.data ?? [];
  const save: Save = (row, name, params) => void act.run(async () => download(row, name, { params }));
  return (
    <Card title={text.title} icon={PlaneTakeoff} wide>
      <Asked of={asked} />
      <ErrorNote error={act.error} />
      {data !== null && flights.length === 0 ? (
        <EmptyState icon={PlaneTakeoff} text={t.vehicle.plots.noFlights} />
      ) : null}
      <div class={css['flights']}>
        {flights.map((flight, at) => (
          <FlightCard
            key={flight.id}
            flight={flight}
            log={vehicleLogOf(flight, flights.slice(0, at).toReversed(), logs)}
            busy={act.busy}
            onSave={save}
          />
        ))}
      </div>
      {flights.length === limit ? (
        <Button onClick={() => setLimit((now) => now + SHOWN)}>{text.older}</Button>
      ) : null}
    </Card>
  );
}

function FlightCard({
  flight,
  log,
  busy,
  onSave,
}: {
  readonly flight: Flight;
  readonly log: VehicleLog | null;
  readonly busy: boolean;
  readonly onSave: Save;
}): JSX.Element {
  const tlogs = flight.files?.tlogs ?? [];
  const [tlog] = tlogs;
  const number = flight.number ?? flight.id;
  const name = text.one({ id: number });
  return (
    <section class={css['flight']} aria-label={name}>
      <header>
        <Icon of={PlaneTakeoff} />
        <div>
          <h3>{moment(flight.started_us / 1000)}</h3>
          <p class="hint">{text.when({ id: number, length: lengthOf(flight) })}</p>
        </div>
        {tlog === undefined || !may('tlogs.name.get') ? null : (
          <a
            class="button primary"
            href={viewHref('node', tlog, ...partOf(flight))}
            aria-label={t.vehicle.plots.openOne({ name })}
          >
            <Icon of={ChartLine} /> {t.vehicle.plots.open}
          </a>
        )}
      </header>
      {flight.span_us === null ? <Badge tone="warn">{text.goesOn}</Badge> : null}
      {tlog === undefined ? null : (
        <FlightReport tlog={tlog} name={name} length={flight.span_us === null ? null : lengthOf(flight)} />
      )}
      <ul class={css['things']}>
        {tlogs.map((each) => (
          <Thing
            key={each}
            words={text.tlog({ name: each })}
            onSave={may('tlogs.name.get') ? () => onSave('tlogs.name.get', each, { name: each }) : null}
          />
        ))}
        {flight.files?.recordings.map((each) => (
          <Thing
            key={each}
            icon={Clapperboard}
            words={text.recording({ name: each })}
            onSave={
              may('video.recordings.name.get')
                ? () => onSave('video.recordings.name.get', each, { name: each })
                : null
            }
          />
        ))}
        {log === null || !may('flight-logs.id.get') ? null : (
          <Thing
            words={text.vehicleLog({ id: log.id })}
            view={viewHref('vehicle', String(log.id))}
            onSave={
              busy
                ? null
                : () =>
                    onSave('flight-logs.id.get', t.vehicle.logs.file({ id: log.id }), { id: String(log.id) })
            }
          />
        )}
      </ul>
      <Events flight={flight} />
    </section>
  );
}

/** A file of a flight. @param view where it is plotted */
function Thing({
  icon = FileText,
  words,
  view,
  onSave,
}: {
  readonly icon?: typeof FileText;
  readonly words: string;
  readonly view?: string;
  readonly onSave: (() => void) | null;
}): JSX.Element {
  return (
    <li>
      <Icon of={icon} />
      <span>{words}</span>
      {view === undefined ? null : (
        <a
          class="button quiet only-icon"
          href={view}
          aria-label={t.vehicle.plots.openOne({ name: words })}
          title={t.vehicle.plots.openOne({ name: words })}
        >
          <Icon of={ChartLine} />
        </a>
      )}
      {onSave === null ? null : (
        <Button
          kind="quiet"
          icon={Download}
          aria-label={t.vehicle.tlogs.downloadOne({ name: words })}
          onClick={onSave}
        />
      )}
    </li>
  );
}

/** Of its telemetry log, in which other flights may be. */
function partOf({ started_us: start, span_us: us }: Flight): readonly string[] {
  return us === null ? [] : [`${Math.floor(start / 1000)}-${Math.ceil((start + us) / 1000)}`];
}

function lengthOf({ span_us: us }: Flight): string {
  return us === null ? t.vehicle.flights.goesOn : span(us / 1e6);
}

function Events({ flight }: { readonly flight: Flight }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <Unfold
      title={t.vehicle.flights.events({ count: flight.event_count })}
      icon={ListOrdered}
      onToggle={setOpen}
    >
      {/* Asked again when there are more: a flight may go on. */}
      {open ? <EventList key={flight.event_count} session={flight.id} /> : null}
    </Unfold>
  );
}

function EventList({ session }: { readonly session: number }): JSX.Element {
  const asked = useAsk('observability.query.get', {
    query: { kind: 'events', session, limit: MOST_EVENTS },
  });
  const { data } = asked;
  return (
    <>
      <Asked of={asked} />
      <ul class={css['events']}>
        {data?.data.toReversed().map(({ id, ts_us: at, kind, detail }) => (
          <li key={id}>
            <time>{moment(at / 1000)}</time> <strong>{kind}</strong> {wordsOf(detail)}
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
