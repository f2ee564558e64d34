import { ChevronLeft, ChevronRight, VideoOff } from 'lucide';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { now as clock } from '../../api/presence.ts';
import { countText, number } from '../../parts/format.ts';
import { Button, EmptyState, Icon } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { isTelling, LIVE_STALE_S, shown, useLive } from '../fly/live.ts';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import { SearchBox } from '../search-box.tsx';
import { BatteryFigure } from './battery.tsx';
import { ageText, type FleetNode, figuresOf, secondsSince, titleOf } from './fleet.ts';
import { useFound } from './found.ts';
import css from './hub-wall.module.css';
import type { FleetFilter } from './selection.ts';
import { phaseOf } from './state.ts';
import { phaseWord, StateIcon } from './state-badge.tsx';
import { useLooked } from './watch-fleet.ts';

/** Of one request to the hub. */
const MAX_SHOWN = 16;
const PICTURES_HZ = 5;

/** What the cameras see, small and five times a second, up to 16 at once. */
export function Wall(): JSX.Element {
  const [search, setSearch] = useState('');
  const [first, setFirst] = useState(0);
  const wanted = useMemo<FleetFilter>(
    () => ({ search, state: 'online', order: 'name', label: null }),
    [search],
  );
  const found = useFound(wanted);
  const hits = found?.nodes ?? [];
  // There may be fewer than where one has leafed to.
  const from = first < hits.length ? first : 0;
  const held = hits.slice(from, from + MAX_SHOWN);
  useLive(
    held.map(({ entry: { id } }) => id),
    1,
    PICTURES_HZ,
  );
  useLooked(held.map(({ entry: { id } }) => id));
  if (found === null) return <p class="first">{t.app.loading}</p>;
  const text = hub.wall;
  return (
    <>
      <div class={css['head']}>
        <SearchBox
          name={text.search}
          value={search}
          onSearch={(part) => {
            setSearch(part);
            setFirst(0);
          }}
        />
        {held.length === 0 ? null : (
          <p class={css['count']}>
            {text.few({ from: from + 1, to: from + held.length, all: countText(found.total) })}
          </p>
        )}
        {hits.length <= MAX_SHOWN ? null : (
          <>
            <Button
              icon={ChevronLeft}
              aria-label={text.before}
              onClick={() => setFirst(from === 0 ? lastStart(hits.length) : from - MAX_SHOWN)}
            />
            <Button
              icon={ChevronRight}
              aria-label={text.after}
              onClick={() => {
                setFirst(from + MAX_SHOWN);
                if (from + 3 * MAX_SHOWN > hits.length) found.more?.();
              }}
            />
          </>
        )}
      </div>
      {held.length === 0 ? (
        <EmptyState icon={VideoOff} text={search.trim() === '' ? text.none : text.noHit} />
      ) : (
        <ul class={css['wall']}>
          {held.map((node) => (
            <li key={node.entry.id}>
              <Thumbnail node={node} />
            </li>
          ))}
        </ul>
      )}
      <p class="hint">{text.hint}</p>
    </>
  );
}

function lastStart(count: number): number {
  return Math.floor((count - 1) / MAX_SHOWN) * MAX_SHOWN;
}

/** The newest picture of a node; one that is old is not shown as the present. */
function Thumbnail({ node: { entry } }: { readonly node: FleetNode }): JSX.Element {
  void clock.value;
  const { id } = entry;
  const name = titleOf(entry);
  const picture = shown.value.get(id);
  const age = secondsSince(picture?.at);
  const isNew = age !== null && age <= LIVE_STALE_S;
  const { mode, fresh, battery, height } = figuresOf(entry);
  const isOld = !isNew && age !== null;
  const isUp = ['flying', 'armed'].includes(phaseOf(entry));
  const up = height === null || !isUp ? null : hub.fleet.height({ metres: number(height) });
  const words = [phaseWord(entry), ...(fresh ? [mode, up] : [])].filter((word) => word !== null);
  return (
    <a href={hrefOf('fleet', id)}>
      {picture === undefined ? (
        <span class={css['no-picture']}>
          <Icon of={VideoOff} />
          {isTelling.value ? hub.wall.noPicture : t.app.loading}
        </span>
      ) : (
        <img src={picture.url} alt={hub.wall.picture({ name })} class={isNew ? '' : css['old-picture']} />
      )}
      <span class={css['name']}>
        <StateIcon entry={entry} />
        <span>
          <strong>{name}</strong>
          <small>{isOld ? hub.fleet.ago({ age: ageText(age) }) : words.join(' · ')}</small>
        </span>
        <BatteryFigure percent={fresh ? battery : null} />
      </span>
    </a>
  );
}
