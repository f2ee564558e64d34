import { ListTree } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer } from '../../../api/rows.ts';
import { number, span } from '../../../parts/format.ts';
import { Asked, Card, EmptyState, Field, Unfold } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from './link.module.css';

type Message = Answer<'mavlink.messages.get'>['messages'][number];
type Value = NonNullable<Message['last']>[string];

const LOOK_MS = 2000;
const text = t.vehicle.inspector;

/** The messages on the link: how often each comes, and what is in the newest. */
export function Inspector(): JSX.Element {
  const asked = useAsk('mavlink.messages.get', {}, LOOK_MS);
  const { data } = asked;
  const [search, setSearch] = useState('');
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const wanted = search.trim().toUpperCase();
  const found = (data?.messages ?? [])
    .map((message) => ({ message, name: message.name ?? text.unknown({ id: message.id }) }))
    .filter(({ name }) => name.toUpperCase().includes(wanted))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return (
    <Card title={text.title} icon={ListTree} wide>
      <Asked of={asked} />
      <p class="hint">{text.hint}</p>
      <Field label={text.search}>
        {(ids) => (
          <input
            {...ids}
            type="search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        )}
      </Field>
      {data !== null && found.length === 0 ? <EmptyState icon={ListTree} text={text.none} /> : null}
      <div class={css['messages']}>
        {found.map(({ message, name }) => {
          const key = `${message.system} ${message.component} ${message.id}`;
          return (
            <Unfold
              key={key}
              title={
                <>
                  <span class={css['name']}>{name}</span>
                  <small class="hint">
                    {text.from({ system: message.system, component: message.component })}
                  </small>
                  <small class={css['rate']}>
                    {message.hz > 0
                      ? text.rate({ hz: number(message.hz, 1) })
                      : text.old({ age: span(message.age_s) })}
                  </small>
                </>
              }
              open={open.has(key)}
              onToggle={(isOpen) => {
                const next = new Set(open);
                if (isOpen) next.add(key);
                else next.delete(key);
                setOpen(next);
              }}
            >
              {open.has(key) ? <Fields last={message.last} /> : null}
            </Unfold>
          );
        })}
      </div>
    </Card>
  );
}

function Fields({ last }: { readonly last: Message['last'] }): JSX.Element {
  if (last === null) return <p class="hint">{text.undecoded}</p>;
  return (
    <dl class={css['fields']}>
      {Object.entries(last).map(([field, value]) => (
        <div key={field}>
          <dt>{field}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function shown(value: Value): string {
  if (Array.isArray(value)) return value.map((each) => each ?? t.app.none).join(', ');
  return String(value ?? t.app.none);
}
