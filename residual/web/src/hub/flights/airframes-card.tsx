import { Wrench } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { moment, number } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { ask, me } from '../client.ts';
import { hub } from '../hub-words.ts';
import { useHub } from '../use-hub.ts';
import type { Airframes, Due } from './answers.ts';
import css from './hub-flights.module.css';

/** As many as the hub gives at once; fewer where they have many batteries. */
const PAGE = 1000;

type Airframe = Airframes['airframes'][number];

/** What each airframe has flown, and what is due. */
export function AirframesCard(): JSX.Element {
  const asked = useHub<Airframes>(`/v1/airframes?limit=${PAGE}`);
  const { data, reload } = asked;
  const [rest, setRest] = useState<Airframes | null>(null);
  const more = useAct();
  useEffect(() => setRest(null), [data]);
  const next = (rest ?? data)?.next ?? null;
  const showMore = async (): Promise<void> => {
    const page = await ask<Airframes>('/v1/airframes', { query: { limit: PAGE, after: next } });
    setRest({ airframes: [...(rest?.airframes ?? []), ...page.airframes], next: page.next });
  };
  const text = hub.flights;
  const isDue = ({ maintenance }: Airframe): boolean => maintenance.some(({ due }) => due);
  // What is to be done stands first.
  const shown = [...(data?.airframes ?? []), ...(rest?.airframes ?? [])].toSorted(
    (a, b) => Number(isDue(b)) - Number(isDue(a)),
  );
  return (
    <Card title={text.airframes} icon={Wrench}>
      <Asked of={asked} />
      {data?.airframes.length === 0 ? <p class="hint">{text.noAirframes}</p> : null}
      <ul class={css['airframes']} aria-label={text.airframes}>
        {shown.map((airframe) => (
          <li key={airframe.id}>
            <strong>{airframe.name ?? airframe.id}</strong>
            <span>{text.flown({ hours: number(airframe.hours, 1), flights: airframe.flights })}</span>
            {airframe.maintenance.map((due) => (
              <Rule key={`${due.rule} ${due.battery}`} id={airframe.id} due={due} onDone={reload} />
            ))}
          </li>
        ))}
      </ul>
      <ErrorNote error={more.error} />
      {next === null ? null : (
        <Button busy={more.busy} onClick={() => void more.run(showMore)}>
          {text.moreAirframes}
        </Button>
      )}
    </Card>
  );
}

function Rule({
  id,
  due,
  onDone,
}: {
  readonly id: string;
  readonly due: Due;
  readonly onDone: () => void;
}): JSX.Element {
  const act = useAct();
  const text = hub.flights;
  const what = due.battery === null ? due.rule : `${due.rule} (${due.battery})`;
  const done = async (): Promise<void> => {
    const battery = due.battery === null ? {} : { battery: due.battery };
    await ask(`/v1/airframes/${encodeURIComponent(id)}/maintenance`, {
      method: 'POST',
      body: { rule: due.rule, ...battery },
    });
    say(text.noted({ what }));
    onDone();
  };
  const left = (
    [
      [due.hours_left, (hours) => text.hours({ count: number(hours, 1) })],
      [due.flights_left, (flights) => text.flightCount({ count: Math.round(flights) })],
      [due.days_left, (days) => text.days({ count: Math.round(days) })],
    ] satisfies readonly (readonly [number | null, (value: number) => string])[]
  ).flatMap(([value, words]) => {
    if (value === null) return [];
    const amount = words(Math.abs(value));
    return [value < 0 ? text.over({ amount }) : text.left({ amount })];
  });
  return (
    <div class={css['rule']}>
      <Badge tone={due.due ? 'warn' : 'good'}>{due.due ? text.due : text.notDue}</Badge>
      <span>
        {what}
        <small>
          {left.join(' · ')}
          {due.done_at === null
            ? null
            : ` · ${text.lastDone({ when: moment(due.done_at), who: due.done_by ?? '' })}`}
        </small>
      </span>
      {me.value?.scopes.includes('admin') === true ? (
        <Button busy={act.busy} aria-label={text.doneOf({ what })} onClick={() => void act.run(done)}>
          {text.done}
        </Button>
      ) : null}
      <ErrorNote error={act.error} />
    </div>
  );
}
