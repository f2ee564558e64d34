import { MapPin } from 'lucide';
import type { JSX, TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { now } from '../../api/presence.ts';
import { countText, number } from '../../parts/format.ts';
import { Button } from '../../parts/parts.tsx';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import { BatteryFigure } from './battery.tsx';
import { ageText, type FleetNode, figuresOf, secondsSince, titleOf } from './fleet.ts';
import css from './hub-fleet.module.css';
import { chosen } from './selection.ts';
import { phaseOf } from './state.ts';
import { attentionWords, isGrave, phaseWord, StateIcon } from './state-badge.tsx';
import { useLooked } from './watch-fleet.ts';

/** As in hub-fleet.module.css: every row is as high, so that which of them are seen is a division. */
const ROW_PX = 64;
/** Drawn above and below what is seen, so that a scroll shows no gap. */
const BEYOND = 8;

/** A list of any length of which only what is seen is drawn. @param onChoose to show one on the map */
export function FleetList({
  nodes,
  total,
  more,
  onChoose,
}: {
  readonly nodes: readonly FleetNode[];
  /** How many there are, of which these are the first. */
  readonly total: number;
  /** Asks for the next ones. */
  readonly more: (() => void) | null;
  readonly onChoose: (id: string) => void;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, count: 20 });
  const look = (): void => {
    const { scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    const first = Math.max(0, Math.floor(scrollTop / ROW_PX) - BEYOND);
    const count = Math.ceil(clientHeight / ROW_PX) + 2 * BEYOND;
    setSeen((before) => (before.first === first && before.count === count ? before : { first, count }));
  };
  useEffect(() => {
    const watch = new ResizeObserver(look);
    if (box.current !== null) watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  // The list may have become shorter than where it was scrolled to.
  const first = Math.min(seen.first, Math.max(0, nodes.length - seen.count));
  const drawn = nodes.slice(first, first + seen.count);
  useLooked(drawn.map(({ entry }) => entry.id));
  const isAtEnd = first + seen.count >= nodes.length;
  useEffect(() => {
    if (isAtEnd) more?.();
  }, [isAtEnd, nodes.length, more === null]);
  return (
    <div ref={box} class={css['list']} onScroll={look}>
      <ul aria-label={hub.fleet.list} style={{ height: `${nodes.length * ROW_PX}px` }} onKeyDown={step}>
        {drawn.map((node, at) => (
          <Row
            key={node.entry.id}
            node={node}
            at={first + at}
            of={total}
            onMap={() => onChoose(node.entry.id)}
          />
        ))}
      </ul>
      {more === null && total > nodes.length ? (
        <p class={css['beyond']}>
          {hub.fleet.first({ shown: countText(nodes.length), all: countText(total) })}
        </p>
      ) : null}
    </div>
  );
}

/** The arrows go from row to row. */
function step(event: TargetedKeyboardEvent<HTMLUListElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = event.target instanceof Element ? event.target.closest('li') : null;
  if (by === undefined || row === null) return;
  event.preventDefault();
  const next = Number(row.ariaPosInSet) + by;
  event.currentTarget.querySelector<HTMLElement>(`li[aria-posinset="${next}"] a`)?.focus();
}

function Row({
  node: { entry },
  at,
  of,
  onMap,
}: {
  readonly node: FleetNode;
  readonly at: number;
  readonly of: number;
  readonly onMap: () => void;
}): JSX.Element {
  void now.value; // an age grows also while nothing is heard
  const { fresh, age, mode, battery, height, place } = figuresOf(entry);
  const title = titleOf(entry);
  const attention = attentionWords(entry);
  const phase = phaseOf(entry);
  const isUp = phase === 'flying' || phase === 'armed';
  const figures = [mode, height === null || !isUp ? null : hub.fleet.height({ metres: number(height) })];
  return (
    <li
      class={`${css['row']} ${fresh ? '' : 'old'} ${chosen.value === entry.id ? css['chosen'] : ''}`}
      aria-posinset={at + 1}
      aria-setsize={of}
      style={{ transform: `translateY(${at * ROW_PX}px)` }}
    >
      <StateIcon entry={entry} />
      <div class={css['who']}>
        <a href={hrefOf('fleet', entry.id)} title={entry.id}>
          {title}
        </a>
        <p>
          {attention === null || isUp ? phaseWord(entry) : null}
          {attention === null ? (
            figures.map((each) => (each === null ? null : ` · ${each}`))
          ) : (
            <>
              {isUp ? ' · ' : null}
              <strong class={`${css['matter']} ${isGrave(entry) ? css['grave'] : ''}`}>{attention}</strong>
            </>
          )}
        </p>
      </div>
      <div class={css['figures']}>
        <BatteryFigure percent={battery} />
        <small>{ageText(age ?? secondsSince(entry.seen_at))}</small>
      </div>
      <Button
        kind="quiet"
        icon={MapPin}
        aria-label={hub.fleet.onMap({ name: title })}
        why={place === null ? hub.fleet.onMapNone : null}
        onClick={onMap}
      />
    </li>
  );
}
