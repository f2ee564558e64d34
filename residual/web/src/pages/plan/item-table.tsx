import { Fragment, type JSX, type TargetedMouseEvent } from 'preact';
import { useState } from 'preact/hooks';
import { isInDegrees } from '../../../../../shared/mission/commands.ts';
import { number } from '../../parts/format.ts';
import { Badge, Button, Field } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { commandName, OFFERED } from './commands.ts';
import { ItemEditor } from './item-editor.tsx';
import { edited, inserted, isEnd, moved, newItem, removed } from './list.ts';
import { NumberInput } from './number-input.tsx';
import css from './plan.module.css';
import { ShapeEditor } from './shape-editor.tsx';
import { shapeAt, shapesOf, withoutCorner, withShape } from './shapes.ts';
import type { Sketch } from './sketch.ts';
import type { Totals } from './totals.ts';

/** One part of the plan as a table; the chosen row opens, with every field and what can be done to it. */
export function ItemTable({ sketch, totals }: { sketch: Sketch; totals: Totals }): JSX.Element {
  const part = sketch.part.value;
  const items = sketch.items.value;
  const chosen = sketch.chosen.value;
  const { marks = null, removed: gone = [] } = sketch.differences.value[part] ?? {};
  const fault = sketch.faults.value.find((each) => each.part === part);
  const heads = new Map(part === 'fence' ? shapesOf(items).map((shape) => [shape.from, shape]) : []);
  if (items.length === 0 && gone.length === 0 && fault === undefined)
    return <p class="hint">{t.plan.noItems[part]}</p>;
  return (
    <>
      {fault !== undefined && fault.index === null ? <p class="note bad">{fault.text}</p> : null}
      <div class="scroll" tabIndex={0} role="region" aria-label={t.plan.list(t.plan.parts[part])}>
        <table class={css['items']}>
          <thead>
            <tr>
              <th class="number">{t.plan.number}</th>
              <th>{t.plan.item}</th>
              <th class="number">{t.plan.heightColumn}</th>
              {part === 'mission' ? <th class={`number ${css['leg']}`}>{t.plan.legColumn}</th> : null}
              <th>{t.plan.state}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item, at) => {
              const mark = marks?.[at] ?? null;
              const isFault = fault?.index === at;
              const head = heads.get(at);
              const leg = totals.legs[at];
              return (
                <Fragment key={at}>
                  {head === undefined || head.kind !== 'polygon' ? null : (
                    <tr class={css['shape-head']}>
                      <th colSpan={4} scope="rowgroup">
                        {t.plan.shapes.polygon(head.inside, head.count)}
                      </th>
                    </tr>
                  )}
                  <tr class={`${chosen === at ? 'chosen' : ''}${isFault ? ' fault' : ''}`}>
                    <td class="number">{item.seq}</td>
                    <td>
                      <button
                        type="button"
                        class={css['link']}
                        aria-expanded={chosen === at}
                        onClick={() => sketch.show(part, chosen === at ? null : at)}
                      >
                        {nameOf(sketch, at)}
                      </button>
                    </td>
                    <td class="number">
                      {part !== 'fence' && isInDegrees(item.frame, item.command)
                        ? `${number(item.z, item.z % 1 === 0 ? 0 : 1)} m ${t.plan.frameShort[item.frame] ?? ''}`
                        : ''}
                    </td>
                    {part === 'mission' ? (
                      <td class={`number ${css['leg']}`}>
                        {leg === null || leg === undefined ? '' : `${number(leg)} m`}
                      </td>
                    ) : null}
                    <td>
                      {mark === null || mark === 'same' ? null : (
                        <Badge tone={mark === 'added' ? 'good' : 'warn'}>{t.plan.marks[mark]}</Badge>
                      )}
                    </td>
                  </tr>
                  {isFault ? (
                    <tr class="fault">
                      <td colSpan={5}>
                        <span class="error" role="alert">
                          ▲ {fault.text}
                        </span>
                      </td>
                    </tr>
                  ) : null}
                  {chosen === at ? (
                    <tr class={css['editor']}>
                      <td colSpan={5}>
                        <Editor sketch={sketch} at={at} />
                      </td>
                    </tr>
                  ) : null}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
      {gone.length === 0 ? null : <p class="note warn">{t.plan.gone(gone.length)}</p>}
    </>
  );
}

function nameOf(sketch: Sketch, at: number): string {
  const items = sketch.items.value;
  const item = items[at];
  if (item === undefined) return '';
  switch (sketch.part.value) {
    case 'mission':
      return commandName(item.command);
    case 'rally':
      return t.plan.rallyPoint;
    case 'fence': {
      const shape = shapeAt(items, at);
      if (shape?.kind === 'polygon') return t.plan.corner(at - shape.from + 1);
      return shape?.kind === 'circle'
        ? t.plan.shapes.circle(shape.inside, number(item.param1))
        : t.plan.shapes.return;
    }
  }
}

function Editor({ sketch, at }: { sketch: Sketch; at: number }): JSX.Element | null {
  const part = sketch.part.value;
  const items = sketch.items.value;
  const item = items[at];
  if (item === undefined) return null;
  const move =
    (step: 1 | -1) =>
    (event: TargetedMouseEvent<HTMLElement>): void => {
      const button = event.currentTarget;
      sketch.change(moved(items, at, at + step));
      sketch.show(part, at + step);
      // The row is another one now; who pressed the key goes on with the same item.
      requestAnimationFrame(() => button.focus());
    };
  return (
    <>
      {part === 'fence' ? (
        <ShapeEditor sketch={sketch} at={at} />
      ) : part === 'mission' ? (
        <ItemEditor sketch={sketch} at={at} />
      ) : (
        <div class={css['fields']}>
          <NumberInput
            label={t.plan.latitude}
            value={item.x}
            onChange={(x) => sketch.change(edited(items, at, { x }))}
          />
          <NumberInput
            label={t.plan.longitude}
            value={item.y}
            onChange={(y) => sketch.change(edited(items, at, { y }))}
          />
          <NumberInput
            label={t.plan.height}
            value={item.z}
            onChange={(z) => sketch.change(edited(items, at, { z }))}
          />
        </div>
      )}
      <div class="row">
        {part === 'fence' ? null : (
          <>
            <Button key="up" {...(at > 0 ? { onClick: move(-1) } : { why: '' })} aria-label={t.plan.up}>
              ↑
            </Button>
            <Button
              key="down"
              {...(at < items.length - 1 ? { onClick: move(1) } : { why: '' })}
              aria-label={t.plan.down}
            >
              ↓
            </Button>
          </>
        )}
        <Button
          key="remove"
          onClick={() => {
            sketch.change(part === 'fence' ? withoutCorner(items, at) : removed(items, at));
            sketch.chosen.value = null;
          }}
        >
          {t.plan.remove}
        </Button>
      </div>
    </>
  );
}

/** Adds an item after the chosen one, else before what ends the mission. */
export function AddItem({ sketch }: { sketch: Sketch }): JSX.Element {
  const part = sketch.part.value;
  const [what, setWhat] = useState({ mission: '16', fence: 'polygon in', rally: '5100' });
  const options =
    part === 'mission'
      ? OFFERED.map((id) => [String(id), commandName(id)] as const)
      : part === 'fence'
        ? Object.entries(t.plan.shapeKinds)
        : null;
  const add = (): void => {
    const items = sketch.items.value;
    const middle = sketch.view.value ?? { lat: 0, lon: 0, zoom: 2 };
    if (part === 'fence') {
      const [named, sense] = what.fence.split(' ');
      const kind = (['circle', 'return'] as const).find((each) => each === named) ?? 'polygon';
      // A fourth of what is to be seen, about.
      const size = Math.max(10, Math.min(20_000, 6_000_000 / 2 ** middle.zoom));
      sketch.change(withShape(items, kind, sense === 'in', middle, size));
      sketch.show(part, items.length);
    } else {
      const at = placeToAdd(sketch);
      sketch.change(
        inserted(items, at, newItem(items, at, part === 'rally' ? 5100 : Number(what.mission), middle)),
      );
      sketch.show(part, at);
    }
  };
  return (
    <div class={`row ${css['add']}`}>
      {options === null ? null : (
        <Field label={part === 'fence' ? t.plan.addShape : t.plan.addWhat}>
          {(ids) => (
            <select
              {...ids}
              value={what[part]}
              onChange={(event) => setWhat({ ...what, [part]: event.currentTarget.value })}
            >
              {options.map(([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Button onClick={add}>{t.plan.add}</Button>
      <Button onClick={() => sketch.undo()} why={sketch.canUndo.value ? null : ''}>
        {t.plan.undo}
      </Button>
    </div>
  );
}

export function placeToAdd(sketch: Sketch): number {
  const items = sketch.items.value;
  const chosen = sketch.chosen.value;
  if (chosen !== null) return chosen + 1;
  const last = items.at(-1);
  return last !== undefined && isEnd(last) ? items.length - 1 : items.length;
}
