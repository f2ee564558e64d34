import type { JSX } from 'preact';
import { Button, Field } from '../../parts/parts.tsx';
import { edited, placeOf, removed } from './list.ts';
import { NumberInput } from './number-input.tsx';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import { shapeAt, turned, withCorner } from './shapes.ts';
import type { Sketch } from './sketch.ts';

/** A corner, a circle or the return point of the fence. */
export function ShapeEditor({ sketch, at }: { sketch: Sketch; at: number }): JSX.Element | null {
  const items = sketch.items.value;
  const item = items[at];
  const shape = shapeAt(items, at);
  if (item === undefined || shape === undefined) return null;
  const addCorner = (): void => {
    const next = items[at + 1 < shape.from + shape.count ? at + 1 : shape.from] ?? item;
    const middle = { lat: (item.x + next.x) / 2, lon: (item.y + next.y) / 2 };
    sketch.change(withCorner(items, shape, at + 1, shape.count > 1 ? middle : placeOf(item)));
    sketch.show('fence', at + 1);
  };
  return (
    <>
      <div class={css['fields']}>
        {shape.kind === 'return' ? null : (
          <Field label={planWords.sense}>
            {(ids) => (
              <select
                {...ids}
                value={shape.inside ? 'in' : 'out'}
                onChange={() => sketch.change(turned(items, shape))}
              >
                <option value="in">{planWords.inside}</option>
                <option value="out">{planWords.outside}</option>
              </select>
            )}
          </Field>
        )}
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
        {shape.kind === 'circle' ? (
          <NumberInput
            label={planWords.radius}
            value={item.param1}
            onChange={(param1) => sketch.change(edited(items, at, { param1 }))}
          />
        ) : null}
        {shape.kind === 'return' ? (
          <NumberInput
            label={planWords.height}
            value={item.z}
            onChange={(z) => sketch.change(edited(items, at, { z }))}
          />
        ) : null}
      </div>
      {shape.kind === 'polygon' ? (
        <div class="row">
          <Button onClick={addCorner}>{planWords.addCorner}</Button>
          <Button
            onClick={() => {
              sketch.change(removed(items, shape.from, shape.count));
              sketch.chosen.value = null;
            }}
          >
            {planWords.removeShape}
          </Button>
        </div>
      ) : null}
    </>
  );
}
