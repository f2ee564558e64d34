import { signal } from '@preact/signals';
import { Drone, UserPlus } from 'lucide';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { now as clock } from '../../api/presence.ts';
import { countText } from '../../parts/format.ts';
import { Button, EmptyState, Icon, Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { me } from '../client.ts';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import { useLoaded } from '../use-loaded.ts';
import type { Counts } from './counts.ts';
import { Filters, type View } from './filters.tsx';
import { ageText, type FleetNode, secondsSince } from './fleet.ts';
import { FleetList } from './fleet-list.tsx';
import { useFound } from './found.ts';
import css from './hub-fleet.module.css';
import { chosen, inOrder, selection } from './selection.ts';
import { countsNow } from './watch-fleet.ts';

/** There is room for list and map beside each other; as in hub-fleet.module.css. */
const WIDE = matchMedia('(min-width: 761px)');
const isWide = signal(WIDE.matches);
WIDE.addEventListener('change', () => {
  isWide.value = WIDE.matches;
});

/** A finger leaves before its tap arrives. */
const AFTER_MS = 600;

const NONE = { search: '', state: 'all', label: null } as const;
const NO_NODES: readonly FleetNode[] = [];

/** All nodes: in a sentence, one by one, and on the map. On a phone list and map are two views. */
export function FleetPage(): JSX.Element {
  const [view, setView] = useState<View>('list');
  const wanted = selection.value;
  const found = useFound(wanted);
  const counts = countsNow();
  const hits = found?.nodes ?? NO_NODES;
  const [pane, setPane] = useState<HTMLDivElement | null>(null);
  const shown = useStill(pane, hits, wanted);
  if (found === null || counts === null) return <p class="first">{t.app.loading}</p>;
  if (counts.nodes === 0) return <NoNodes />;
  const text = hub.fleet;
  return (
    <div class={`${css['fleet']} ${view === 'map' ? css['map-first'] : ''}`}>
      <div class={css['pane']} ref={setPane}>
        <div class={css['head']}>
          <Summary counts={counts} />
          <Filters counts={counts} view={view} onView={setView} />
        </div>
        {shown.length === 0 ? (
          <EmptyState icon={Drone} text={text.noHit}>
            <Button onClick={() => (selection.value = { ...wanted, ...NONE })}>{text.showAll}</Button>
          </EmptyState>
        ) : (
          <FleetList
            nodes={shown}
            total={found.total}
            more={found.more}
            onChoose={(id) => {
              chosen.value = id;
              setView('map');
            }}
          />
        )}
      </div>
      <Place nodes={hits} isWanted={view === 'map' || isWide.value} />
    </div>
  );
}

/** Map and card, which the list does not wait for. */
function Place({
  nodes: placed,
  isWanted,
}: {
  readonly nodes: readonly FleetNode[];
  readonly isWanted: boolean;
}): JSX.Element {
  const Shown = useLoaded(isWanted ? loadPlace : null);
  return (
    <div class={css['place']}>
      {Shown === 'failed' ? (
        <Note tone="bad">{hub.notLoaded}</Note>
      ) : Shown === null ? null : (
        <Shown nodes={placed} />
      )}
    </div>
  );
}

async function loadPlace(): Promise<ComponentType<{ readonly nodes: readonly FleetNode[] }>> {
  return (await import('./fleet-place.tsx')).FleetPlace;
}

/** The state of the fleet in a sentence. */
function Summary({ counts }: { readonly counts: Counts }): JSX.Element {
  void clock.value;
  const { away_since: away } = counts;
  const since = away === null ? null : ageText(secondsSince(away));
  const { whole, ...words } = hub.fleet.summary;
  const parts = (['ground', 'flying', 'armed', 'unknown', 'away'] as const)
    .filter((phase) => counts.phases[phase] > 0)
    .map((phase) => {
      const count = countText(counts.phases[phase]);
      return words[phase]({ count, since: counts.phases.away === 1 ? since : null });
    });
  const all = counts.nodes;
  return (
    <p class={css['summary']}>
      {whole({ all, total: countText(all), onlyDrones: all === counts.drones, parts: parts.join(', ') })}
    </p>
  );
}

function NoNodes(): JSX.Element {
  const text = hub.fleet;
  const mayEnrol = me.value?.scopes.includes('admin') === true;
  return (
    <div class={css['nothing']}>
      <EmptyState icon={Drone} text={text.empty}>
        <p>{mayEnrol ? text.emptyHint : text.emptyOther}</p>
        {mayEnrol ? (
          <>
            <a class="button primary" href={hrefOf('enrol')}>
              <Icon of={UserPlus} />
              {hub.enrol.title}
            </a>
            <p>{text.toFly}</p>
            <ol>
              {text.start.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
          </>
        ) : null}
      </EmptyState>
    </div>
  );
}

/** Nothing moves under a finger: while the list is touched or looked through, the rows keep their order. */
function useStill(
  element: HTMLElement | null,
  hits: readonly FleetNode[],
  wanted: unknown,
): readonly FleetNode[] {
  const [touched, setTouched] = useState(false);
  const order = useRef<{ readonly wanted: unknown; readonly ids: readonly string[] }>({ wanted, ids: [] });
  useEffect(() => {
    if (element === null) return;
    // Focus goes from one thing in it to the next, and a press takes it away: neither is an end.
    let end: ReturnType<typeof setTimeout> | undefined;
    let isUnder = false;
    let isFocused = false;
    const stop = new AbortController();
    const on = (
      name: 'pointerenter' | 'pointerleave' | 'focusin' | 'focusout',
      set: (event: Event) => void,
    ): void =>
      element.addEventListener(
        name,
        (event) => {
          set(event);
          clearTimeout(end);
          if (isUnder || isFocused) setTouched(true);
          else end = setTimeout(() => setTouched(false), AFTER_MS);
        },
        { signal: stop.signal },
      );
    on('pointerenter', () => (isUnder = true));
    on('pointerleave', () => (isUnder = false));
    on('focusin', () => (isFocused = true));
    on('focusout', (event) => {
      const next = event instanceof FocusEvent ? event.relatedTarget : null;
      isFocused = next instanceof Node && element.contains(next);
    });
    return () => {
      clearTimeout(end);
      stop.abort();
    };
  }, [element]);
  const shown = touched && order.current.wanted === wanted ? inOrder(hits, order.current.ids) : hits;
  order.current = { wanted, ids: shown.map(({ entry }) => entry.id) };
  return shown;
}
