import { ArrowUpDown, List, Map as MapIcon, Tag, Users } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { GROUP } from '../../../../../shared/fleet/node-labels.ts';
import { countText } from '../../parts/format.ts';
import { Icon, Segmented } from '../../parts/parts.tsx';
import type { TagList } from '../answers.ts';
import { hub } from '../hub-words.ts';
import { SearchBox } from '../search-box.tsx';
import { useHub } from '../use-hub.ts';
import type { Counts } from './counts.ts';
import css from './hub-fleet.module.css';
import { ORDERS, type Selection, STATES, selection } from './selection.ts';

export type View = 'list' | 'map';

const MOST_TAGS = 20;
const TAGS_MS = 15_000;

/** Which of them: by words, by what they do, and in which order. `/` goes to the words, the arrow down from there to the list. */
export function Filters({
  counts,
  view,
  onView,
}: {
  readonly counts: Counts;
  /** Of a phone, where there is room for one. */
  readonly view: View;
  readonly onView: (view: View) => void;
}): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const text = hub.fleet;
  const { search, state, order } = selection.value;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <div class={css['find']}>
        <SearchBox
          name={text.search}
          value={search}
          onSearch={(words) => (selection.value = { ...selection.value, search: words })}
          field={field}
          keys="/"
          onDown={(input) =>
            input
              .closest(`.${css['pane'] ?? ''}`)
              ?.querySelector<HTMLElement>('li a')
              ?.focus()
          }
        />
        <label class={css['order']} title={text.order}>
          <Icon of={ArrowUpDown} />
          <span class="visually-hidden">{text.order}</span>
          <select
            value={order}
            onChange={({ currentTarget: { value } }) =>
              (selection.value = {
                ...selection.value,
                order: ORDERS.find((each) => each === value) ?? order,
              })
            }
          >
            {ORDERS.map((each) => (
              <option key={each} value={each}>
                {text.orders[each]}
              </option>
            ))}
          </select>
        </label>
        <div class={css['views']}>
          <Segmented
            label={text.view}
            options={[
              { id: 'list', name: text.views.list, icon: List },
              { id: 'map', name: text.views.map, icon: MapIcon },
            ]}
            chosen={view}
            onChoose={onView}
          />
        </div>
      </div>
      <div class={css['chips']} role="group" aria-label={text.state}>
        {STATES.map((each) => {
          const count = countOf(counts, each);
          return (
            <button
              key={each}
              type="button"
              class={each === 'attention' && count > 0 ? css['some'] : ''}
              aria-pressed={each === state}
              onClick={() => (selection.value = { ...selection.value, state: each })}
            >
              {text.states[each]} <span>{countText(count)}</span>
            </button>
          );
        })}
      </div>
      <Labels />
    </>
  );
}

function countOf({ nodes, attention, armed, phases }: Counts, state: Selection['state']): number {
  return { all: nodes, attention, armed, ground: phases.ground, offline: phases.away }[state];
}

/** The tags and groups that most have, each of which is chosen and let go. */
function Labels(): JSX.Element | null {
  const { data } = useHub<TagList>('/v1/tags', TAGS_MS);
  const { label } = selection.value;
  const most = (data?.tags ?? []).slice(0, MOST_TAGS);
  // One that is chosen can be let go, whoever has it.
  const shown =
    label === null || most.some(({ tag }) => tag === label) ? most : [{ tag: label, nodes: 0 }, ...most];
  if (shown.length === 0) return null;
  return (
    <div class={css['chips']} role="group" aria-label={hub.tags.filter}>
      {shown.map(({ tag, nodes }) => (
        <button
          key={tag}
          type="button"
          aria-pressed={tag === label}
          onClick={() => (selection.value = { ...selection.value, label: tag === label ? null : tag })}
        >
          <Icon of={tag.startsWith(GROUP) ? Users : Tag} />
          {tag.startsWith(GROUP) ? tag.slice(GROUP.length) : tag} <span>{countText(nodes)}</span>
        </button>
      ))}
    </div>
  );
}
