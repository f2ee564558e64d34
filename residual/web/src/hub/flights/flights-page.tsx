import { Download, Plane } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { saveBlob } from '../../parts/files.ts';
import { clock, day, isoTime, number, span } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, EmptyState, ErrorNote } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { ask, open } from '../client.ts';
import { nodeName } from '../fleet/node-name.ts';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import { useHub } from '../use-hub.ts';
import { AirframesCard } from './airframes-card.tsx';
import type { Flight, FlightPage } from './answers.ts';
import { FlightView } from './flight-view.tsx';
import css from './hub-flights.module.css';

const EVERY_MS = 15_000;
const PAGE = 100;
const FIRST = `/v1/flights?limit=${PAGE}`;

/** The flights of the fleet, newest first; beside them one of them, or what the airframes have flown. @param id of the one that is open; empty: none */
export function FlightsPage({ id }: { readonly id: string }): JSX.Element {
  const asked = useHub<FlightPage>(FIRST, EVERY_MS);
  const { data } = asked;
  const [older, setOlder] = useState<FlightPage | null>(null);
  const more = useAct();
  const saved = useAct();
  const text = hub.flights;
  // A newer first page moves what follows it.
  const firstNext = data?.next ?? null;
  useEffect(() => setOlder(null), [firstNext]);
  const next = older === null ? firstNext : older.next;
  const flights = [...(data?.flights ?? []), ...(older?.flights ?? [])];
  const showMore = async (): Promise<void> => {
    const page = await ask<FlightPage>('/v1/flights', { query: { limit: PAGE, cursor: next } });
    setOlder({ flights: [...(older?.flights ?? []), ...page.flights], next: page.next });
  };
  const save = async (): Promise<void> =>
    saveBlob(await (await open('/v1/flights.csv', {})).blob(), 'flights.csv');
  return (
    <div class={`${css['flights']} ${id === '' ? '' : css['open']}`}>
      <div class={css['list']}>
        <Card
          title={text.title}
          icon={Plane}
          actions={
            <Button icon={Download} busy={saved.busy} onClick={() => void saved.run(save)}>
              {text.csv}
            </Button>
          }
        >
          <Asked of={asked} />
          <ErrorNote error={saved.error} />
          {data?.flights.length === 0 ? (
            <EmptyState icon={Plane} text={text.none}>
              <p class="hint">{text.noneHint}</p>
            </EmptyState>
          ) : null}
          <ol aria-label={text.title}>
            {flights.map((flight, at) => (
              <Row
                key={flight.id}
                flight={flight}
                before={flights[at - 1]}
                isOpen={String(flight.id) === id}
              />
            ))}
          </ol>
          <ErrorNote error={more.error} />
          {next === null ? null : (
            <Button busy={more.busy} onClick={() => void more.run(showMore)}>
              {text.more}
            </Button>
          )}
        </Card>
      </div>
      <div class={css['beside']}>{id === '' ? <AirframesCard /> : <FlightView key={id} id={id} />}</div>
    </div>
  );
}

function Row({
  flight: { id, node, started_at: at, armed_s, distance_m, max_height_m, worst, findings, pilots },
  before,
  isOpen,
}: {
  readonly flight: Flight;
  readonly before: Flight | undefined;
  readonly isOpen: boolean;
}): JSX.Element {
  const today = day(at);
  const text = hub.flights;
  const figures = [
    distance_m === null ? null : text.km({ kilometres: number(distance_m / 1000, 1) }),
    max_height_m === null ? null : hub.fleet.height({ metres: number(max_height_m) }),
    pilots.join(', '),
  ].filter((each) => each !== null && each !== '');
  return (
    <>
      {before !== undefined && day(before.started_at) === today ? null : (
        <li class={css['day']}>
          <h3>{today}</h3>
        </li>
      )}
      <li>
        <a href={hrefOf('flights', String(id))} aria-current={isOpen ? 'true' : undefined}>
          <time dateTime={isoTime(at)}>{clock(at)}</time>
          <span class={css['who']}>
            <strong>{nodeName(node)}</strong>
            <small>{figures.join(' · ')}</small>
          </span>
          {worst === null || worst === 'info' ? null : (
            <Badge tone={worst === 'critical' ? 'bad' : 'warn'}>{text.findings({ count: findings })}</Badge>
          )}
          <span class={css['long']}>{span(armed_s)}</span>
        </a>
      </li>
    </>
  );
}
