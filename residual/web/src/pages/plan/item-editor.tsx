import type { JSX } from 'preact';
import { isInDegrees } from '../../../../../shared/mission/commands.ts';
import { ITEM_PARAMS } from '../../../../../shared/schemas/mission-item.ts';
import { Field } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { commandMeaning, commandName, OFFERED } from './commands.ts';
import { commanded, edited, type Item, isSomewhere } from './list.ts';
import { NumberInput } from './number-input.tsx';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import type { Sketch } from './sketch.ts';

const FRAMES = { 3: 'home', 10: 'ground', 0: 'sea' } as const;
const FRAME_IDS = [3, 10, 0] as const;
/** The same heights, under the other number that MAVLink has for them. */
const TWIN: Readonly<Record<number, number>> = { 5: 0, 6: 3, 11: 10 };

/** Every field of one item of the mission. */
export function ItemEditor({ sketch, at }: { sketch: Sketch; at: number }): JSX.Element | null {
  const items = sketch.items.value;
  const item = items[at];
  if (item === undefined) return null;
  const set = (members: Partial<Item>): void => sketch.change(edited(items, at, members));
  const { command, frame } = item;
  const meaning = commandMeaning(command);
  const place = isInDegrees(frame, command);
  const middle = sketch.view.value ?? { lat: 0, lon: 0 };
  return (
    <div class={css['fields']}>
      <Field label={planWords.command}>
        {(ids) => (
          <select
            {...ids}
            value={command}
            onChange={(event) =>
              sketch.change(commanded(items, at, Number(event.currentTarget.value), middle))
            }
          >
            {[...new Set([...OFFERED, command])].map((id) => (
              <option key={id} value={id}>
                {commandName(id)}
              </option>
            ))}
          </select>
        )}
      </Field>
      {place ? (
        <>
          <NumberInput
            label={planWords.latitude}
            value={item.x}
            {...(isSomewhere(item) ? {} : { hint: planWords.here })}
            onChange={(x) => set({ x })}
          />
          <NumberInput label={planWords.longitude} value={item.y} onChange={(y) => set({ y })} />
          <NumberInput label={planWords.height} value={item.z} onChange={(z) => set({ z })} />
          <Field label={planWords.reference}>
            {(ids) => (
              <select
                {...ids}
                value={TWIN[frame] ?? frame}
                onChange={(event) => set({ frame: Number(event.currentTarget.value) })}
              >
                {FRAME_IDS.map((id) => (
                  <option key={id} value={id}>
                    {planWords.above[FRAMES[id]]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </>
      ) : null}
      {meaning === null ? (
        <p class="hint">
          {planWords.untouched} {ITEM_PARAMS.map((name) => item[name] ?? t.app.none).join(' · ')}
          {place ? '' : ` · ${item.x} · ${item.y} · ${item.z}`}
        </p>
      ) : (
        <Params item={item} params={meaning} set={set} />
      )}
    </div>
  );
}

type Named = string | { readonly label: string; readonly choices: Readonly<Record<number, string>> } | null;

function Params({
  item,
  params,
  set,
}: {
  item: Item;
  params: readonly Named[];
  set: (members: Partial<Item>) => void;
}): JSX.Element {
  const members = [...ITEM_PARAMS, 'x', 'y', 'z'] as const;
  return (
    <>
      {params.map((named, index) => {
        const member = members[index];
        if (named === null || member === undefined) return null;
        const value = item[member];
        if (typeof named === 'string')
          return ITEM_PARAMS.some((name) => name === member) ? (
            <NumberInput
              key={member}
              label={named}
              value={value}
              empty={null}
              hint={value === null ? planWords.vehicleDecides : ''}
              onChange={(next) => set({ [member]: next })}
            />
          ) : (
            <NumberInput
              key={member}
              label={named}
              value={value}
              onChange={(next) => set({ [member]: next })}
            />
          );
        const known = value !== null && value in named.choices;
        return (
          <Field key={member} label={named.label}>
            {(ids) => (
              <select
                {...ids}
                value={String(value)}
                onChange={(event) => set({ [member]: Number(event.currentTarget.value) })}
              >
                {Object.entries(named.choices).map(([choice, text]) => (
                  <option key={choice} value={choice}>
                    {text}
                  </option>
                ))}
                {known ? null : <option value={String(value)}>{value ?? t.app.none}</option>}
              </select>
            )}
          </Field>
        );
      })}
    </>
  );
}
