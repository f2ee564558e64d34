import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { now } from '../api/presence.ts';
import { number } from '../parts/format.ts';
import { Badge } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { ageText, type FleetNode, figuresOf, secondsSince, titleOf } from './fleet.ts';
import css from './hub.module.css';
import { hrefOf } from './route.ts';
import { hub } from './words.ts';

/** As in hub.css: every row is as high, so that which of them are seen is a division. */
const ROW_PX = 44;
/** Drawn above and below what is seen, so that a scroll shows no gap. */
const BEYOND = 8;

/** A table of any length of which only what is seen is drawn. */
export function FleetList({ nodes }: { readonly nodes: readonly FleetNode[] }): JSX.Element {
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
  const text = hub.fleet.columns;
  return (
    <div
      ref={box}
      class={`scroll ${css['fleet-list']}`}
      tabIndex={0}
      role="region"
      aria-label={hub.fleet.list}
      onScroll={look}
    >
      <table aria-rowcount={nodes.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">{text.name}</th>
            <th scope="col">{text.state}</th>
            <th scope="col" class={css['spare']}>
              {text.mode}
            </th>
            <th scope="col" class={`${css['spare']} number`}>
              {text.battery}
            </th>
            <th scope="col" class={`${css['spare']} number`}>
              {text.height}
            </th>
            <th scope="col" class="number">
              {text.age}
            </th>
          </tr>
        </thead>
        <tbody>
          <Space rows={first} />
          {drawn.map((node, at) => (
            <Row key={node.entry.id} node={node} index={first + at + 2} />
          ))}
          <Space rows={nodes.length - first - drawn.length} />
        </tbody>
      </table>
    </div>
  );
}

/** In the place of rows that are not drawn. */
function Space({ rows }: { rows: number }): JSX.Element | null {
  return rows <= 0 ? null : (
    <tr class={css['space']} aria-hidden="true">
      <td style={{ height: `${rows * ROW_PX}px` }}>{t.app.none}</td>
    </tr>
  );
}

function Row({ node: { entry }, index }: { node: FleetNode; index: number }): JSX.Element {
  void now.value; // an age grows also while nothing is heard
  const { fresh, age, mode, battery, height } = figuresOf(entry);
  return (
    <tr class={fresh ? '' : 'old'} aria-rowindex={index}>
      <th scope="row">
        <a href={hrefOf('fleet', entry.id)}>{titleOf(entry)}</a> <small>{entry.id}</small>
      </th>
      <td>
        <State entry={entry} />
      </td>
      <td class={css['spare']}>{mode ?? t.app.none}</td>
      <td class={`${css['spare']} number`}>{battery === null ? t.app.none : `${number(battery)} %`}</td>
      <td class={`${css['spare']} number`}>{height === null ? t.app.none : `${number(height)} m`}</td>
      <td class="number">{ageText(age ?? secondsSince(entry.seen_at))}</td>
    </tr>
  );
}

/** What matters most, in one word or two. */
export function State({ entry }: { entry: FleetNode['entry'] }): JSX.Element {
  const { armed, present } = figuresOf(entry);
  const word = hub.fleet.word;
  return (
    <>
      {entry.alarm === null ? null : <Badge tone="bad">{word.alarm}</Badge>}{' '}
      {entry.online ? null : <Badge tone="warn">{word.offline}</Badge>}{' '}
      {armed === true ? <Badge tone="warn">{present ? word.armed : word.wasArmed}</Badge> : null}
      {armed === 'unknown' ? <Badge tone="warn">{word.armedUnknown}</Badge> : null}
      {entry.online && armed !== true && armed !== 'unknown' ? (
        <Badge tone={present ? 'good' : 'info'}>{present ? word.online : word.silent}</Badge>
      ) : null}
    </>
  );
}
