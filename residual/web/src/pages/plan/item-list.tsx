import { ArrowDown, ArrowUp, ChevronDown, House, type IconNode, MapPin, Trash2 } from 'lucide';
import type { JSX, TargetedMouseEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isInDegrees } from '../../../../../shared/mission/commands.ts';
import { shapesOf } from '../../../../../shared/mission/shapes.ts';
import { number } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Badge, Button } from '../../parts/parts.tsx';
import { commandName } from './commands.ts';
import { type Entry, entriesOf, moveEntry } from './entries.ts';
import type { Totals } from './estimate/totals.ts';
import { heightText } from './height.ts';
import { ItemEditor } from './item-editor.tsx';
import { edited, moved, removed } from './list.ts';
import { NumberInput } from './number-input.tsx';
import { PatternEditor } from './pattern-editor.tsx';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import { ShapeEditor } from './shape-editor.tsx';
import { shapeAt, withoutCorner } from './shapes.ts';
import type { Sketch } from './sketch.ts';
import { TOOL_ICONS } from './tool-bar.tsx';

/** Icons of the commands that one sees most. */
const ICONS: Readonly<Record<number, IconNode>> = {
  20: House,
  21: TOOL_ICONS.land,
  22: TOOL_ICONS.takeoff,
  84: TOOL_ICONS.takeoff,
  85: TOOL_ICONS.land,
};

/** One part of the plan as a list; what is chosen opens, with every field and what can be done to it. */
export function ItemList({ sketch, totals }: { sketch: Sketch; totals: Totals }): JSX.Element {
  const part = sketch.part.value;
  const items = sketch.items.value;
  const { marks = null, removed: gone = [] } = sketch.differences.value[part] ?? {};
  const fault = sketch.faults.value.find((each) => each.part === part);
  const entries = entriesOf(items, part === 'mission' ? sketch.placed.value : []);
  const heads = new Map(part === 'fence' ? shapesOf(items).map((shape) => [shape.from, shape]) : []);
  if (items.length === 0 && gone.length === 0 && fault === undefined)
    return <p class="hint">{planWords.noItems[part]}</p>;
  return (
    <>
      {fault !== undefined && fault.index === null ? <p class="note bad">{fault.text}</p> : null}
      <ol class={css['items']} aria-label={planWords.list({ part: planWords.parts[part] })}>
        {entries.map((entry) => {
          const head = heads.get(entry.from);
          const own = marks?.slice(entry.from, entry.from + entry.count) ?? [];
          const mark = own.find((each) => each !== 'same') ?? null;
          const isFault =
            fault?.index != null && fault.index >= entry.from && fault.index < entry.from + entry.count;
          return (
            <li key={entry.from} class={isFault ? 'fault' : ''}>
              {head?.kind === 'polygon' ? (
                <h3>{planWords.shapes.polygon({ inside: head.inside, corners: head.count })}</h3>
              ) : null}
              <Row sketch={sketch} entry={entry} mark={mark} leg={totals.distances[entry.from] ?? null} />
              {isFault ? (
                <p class="error" role="alert">
                  {fault?.text}
                </p>
              ) : null}
              {isChosen(sketch, entry) ? <Editor sketch={sketch} entry={entry} totals={totals} /> : null}
            </li>
          );
        })}
      </ol>
      {gone.length === 0 ? null : <p class="note warn">{planWords.gone({ count: gone.length })}</p>}
    </>
  );
}

function isChosen(sketch: Sketch, { from, count }: Entry): boolean {
  const chosen = sketch.chosen.value;
  return chosen !== null && chosen >= from && chosen < from + count;
}

function Row({
  sketch,
  entry,
  mark,
  leg,
}: {
  readonly sketch: Sketch;
  readonly entry: Entry;
  readonly mark: 'added' | 'changed' | null;
  readonly leg: number | null;
}): JSX.Element {
  const part = sketch.part.value;
  const items = sketch.items.value;
  const { from, count } = entry;
  const item = items[from];
  const chosen = isChosen(sketch, entry);
  const button = useRef<HTMLButtonElement>(null);
  // Chosen on the map: its row comes into sight.
  useEffect(() => {
    if (chosen) button.current?.scrollIntoView({ block: entry.kind === 'pattern' ? 'start' : 'nearest' });
  }, [chosen]);
  const icon =
    entry.kind === 'pattern'
      ? TOOL_ICONS[entry.placed.settings.kind]
      : part === 'mission'
        ? (ICONS[item?.command ?? 0] ?? MapPin)
        : part === 'rally'
          ? TOOL_ICONS.rally
          : TOOL_ICONS.fence;
  const last = items[from + count - 1];
  const height =
    item === undefined ||
    part === 'fence' ||
    entry.kind === 'pattern' ||
    !isInDegrees(item.frame, item.command)
      ? ''
      : heightText(item.z, item.frame, item.z % 1 === 0 ? 0 : 1);
  return (
    <button
      ref={button}
      type="button"
      class={css['item']}
      aria-expanded={chosen}
      onClick={() => sketch.show(part, chosen ? null : from)}
    >
      <span class={css['seq']}>
        {entry.kind === 'pattern'
          ? planWords.patternItems({ first: item?.seq ?? 0, last: last?.seq ?? 0 })
          : item?.seq}
      </span>
      <Icon of={icon} />
      <span class={css['name']}>
        {nameOf(sketch, entry)}
        {height === '' ? null : <small>{height}</small>}
      </span>
      <span class={css['leg']}>{leg === null ? '' : `${number(leg)} m`}</span>
      {mark === null ? null : (
        <Badge tone={mark === 'added' ? 'good' : 'warn'}>{planWords.marks[mark]}</Badge>
      )}
      <Icon of={ChevronDown} />
    </button>
  );
}

function nameOf(sketch: Sketch, entry: Entry): string {
  if (entry.kind === 'pattern') return planWords.pattern[entry.placed.settings.kind];
  const items = sketch.items.value;
  const item = items[entry.from];
  if (item === undefined) return '';
  switch (sketch.part.value) {
    case 'mission':
      return commandName(item.command);
    case 'rally':
      return planWords.rallyPoint;
    case 'fence': {
      const shape = shapeAt(items, entry.from);
      if (shape?.kind === 'polygon') return planWords.corner({ n: entry.from - shape.from + 1 });
      return shape?.kind === 'circle'
        ? planWords.shapes.circle({ inside: shape.inside, radius: number(item.param1) })
        : planWords.shapes.return;
    }
  }
}

function Editor({
  sketch,
  entry,
  totals,
}: {
  readonly sketch: Sketch;
  readonly entry: Entry;
  readonly totals: Totals;
}): JSX.Element | null {
  const part = sketch.part.value;
  const items = sketch.items.value;
  const at = entry.from;
  const item = items[at];
  if (item === undefined) return null;
  const move =
    (step: 1 | -1) =>
    (event: TargetedMouseEvent<HTMLElement>): void => {
      const button = event.currentTarget;
      if (part === 'mission') moveEntry(sketch, entry, step);
      else {
        sketch.change(moved(items, at, at + step));
        sketch.show(part, at + step);
      }
      // The row is another one now; who pressed the key goes on with the same item.
      requestAnimationFrame(() => button.focus());
    };
  const speed = totals.legs.find((leg) => leg.at > at)?.speed ?? null;
  return (
    <div class={css['editor']}>
      {entry.kind === 'pattern' ? (
        <PatternEditor sketch={sketch} placed={entry.placed} speed={speed} />
      ) : part === 'fence' ? (
        <ShapeEditor sketch={sketch} at={at} />
      ) : part === 'mission' ? (
        <ItemEditor sketch={sketch} at={at} />
      ) : (
        <div class={css['fields']}>
          <NumberInput
            label={planWords.latitude}
            value={item.x}
            onChange={(x) => sketch.change(edited(items, at, { x }))}
          />
          <NumberInput
            label={planWords.longitude}
            value={item.y}
            onChange={(y) => sketch.change(edited(items, at, { y }))}
          />
          <NumberInput
            label={planWords.height}
            value={item.z}
            onChange={(z) => sketch.change(edited(items, at, { z }))}
          />
        </div>
      )}
      <div class="row">
        {part === 'fence' ? null : (
          <>
            <Button
              key="up"
              icon={ArrowUp}
              {...(at > 0 ? { onClick: move(-1) } : { why: '' })}
              aria-label={planWords.up}
            />
            <Button
              key="down"
              icon={ArrowDown}
              {...(at + entry.count < items.length ? { onClick: move(1) } : { why: '' })}
              aria-label={planWords.down}
            />
          </>
        )}
        {entry.kind === 'pattern' ? null : (
          <Button
            key="remove"
            icon={Trash2}
            onClick={() => {
              sketch.change(part === 'fence' ? withoutCorner(items, at) : removed(items, at));
              sketch.show(part);
            }}
          >
            {planWords.remove}
          </Button>
        )}
      </div>
    </div>
  );
}
