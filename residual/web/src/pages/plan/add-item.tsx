import { Plus } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button, Field } from '../../parts/parts.tsx';
import { commandName, OFFERED } from './commands.ts';
import { placeToAdd } from './entries.ts';
import { inserted, newItem } from './list.ts';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import { withShape } from './shapes.ts';
import type { Sketch } from './sketch.ts';

/** Any item, by its name, in the middle of what is to be seen: after the chosen one, else before what ends the mission. */
export function AddItem({ sketch }: { sketch: Sketch }): JSX.Element {
  const part = sketch.part.value;
  const [what, setWhat] = useState({ mission: '16', fence: 'polygon in', rally: '5100' });
  const options =
    part === 'mission'
      ? OFFERED.map((id) => [String(id), commandName(id)] as const)
      : part === 'fence'
        ? Object.entries(planWords.shapeKinds)
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
        <Field label={part === 'fence' ? planWords.addShape : planWords.addWhat}>
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
      <Button icon={Plus} onClick={add}>
        {planWords.add}
      </Button>
    </div>
  );
}
