import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { now as clock } from '../api/presence.ts';
import { Card, Field } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { ageText, type FleetNode, nodes, secondsSince, titleOf } from './fleet.ts';
import { State } from './fleet-list.tsx';
import { LIVE_STALE_S, shown, useLive } from './fly/live.ts';
import css from './hub.module.css';
import { hrefOf } from './route.ts';
import { hub } from './words.ts';

const MAX_SHOWN = 16;
const PICTURES_HZ = 5;

/** What the cameras of up to 16 nodes see, small and five times a second. */
export function Wall(): JSX.Element {
  const [search, setSearch] = useState('');
  const all = nodes.value;
  const words = search.trim().toLowerCase();
  const online = (all ?? []).filter((node) => node.entry.online && node.words.includes(words));
  const held = online.toSorted((a, b) => a.words.localeCompare(b.words)).slice(0, MAX_SHOWN);
  useLive(
    held.map(({ entry: { id } }) => id),
    1,
    PICTURES_HZ,
  );
  if (all === null) return <p class="first">{t.app.loading}</p>;
  const text = hub.wall;
  return (
    <div class="page">
      <Card title={text.title} wide>
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
        <p class="hint">
          {online.length === 0 ? text.none : text.few(held.length, online.length)} {text.hint}
        </p>
        <ul class={css['wall']}>
          {held.map((node) => (
            <li key={node.entry.id}>
              <Thumbnail node={node} />
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

/** The newest picture of a node; one that is old is not shown as the present. */
function Thumbnail({ node: { entry } }: { readonly node: FleetNode }): JSX.Element {
  void clock.value;
  const { id } = entry;
  const name = titleOf(entry);
  const picture = shown.value.get(id);
  const age = secondsSince(picture?.at);
  const isNew = age !== null && age <= LIVE_STALE_S;
  return (
    <a href={hrefOf('fleet', id)}>
      {picture === undefined ? (
        <span class={css['no-picture']}>{hub.wall.noPicture}</span>
      ) : (
        <img src={picture.url} alt={hub.wall.picture(name)} class={isNew ? '' : css['old-picture']} />
      )}
      <span>
        {name} <State entry={entry} /> {isNew || age === null ? null : ageText(age)}
      </span>
    </a>
  );
}
