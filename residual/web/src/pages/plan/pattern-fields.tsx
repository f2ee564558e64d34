import type { JSX } from 'preact';
import type { PatternSettings } from '../../../../../shared/mission/patterns/settings.ts';
import { Field } from '../../parts/parts.tsx';
import { NumberInput } from './number-input.tsx';
import { planWords } from './plan-words.ts';

/** Inputs for the members of a pattern's settings, named as the words name them. */

type NamesOf<S, T> = { [Name in keyof S]: S[Name] extends T ? Name : never }[keyof S] & string;

const LABELS: Readonly<Record<string, () => string>> = {
  trigger: () => planWords.settings.photoSpacing,
};

function labelOf(name: string): string {
  return (
    LABELS[name]?.() ?? Object.entries(planWords.settings).find(([member]) => member === name)?.[1] ?? name
  );
}

export function Numbers<S extends PatternSettings>({
  settings,
  names,
  onChange,
}: {
  readonly settings: S;
  readonly names: readonly NamesOf<S, number>[];
  readonly onChange: (settings: PatternSettings) => void;
}): JSX.Element {
  return (
    <>
      {names.map((name) => {
        const value: unknown = settings[name];
        return (
          <NumberInput
            key={name}
            label={labelOf(name)}
            value={typeof value === 'number' ? shown(value) : 0}
            onChange={(next) => onChange({ ...settings, [name]: next })}
          />
        );
      })}
    </>
  );
}

/** Two digits are enough to read; what is not changed keeps all of them. */
export function shown(value: number): number {
  return Math.round(value * 100) / 100;
}

export function Flag<S extends PatternSettings>({
  settings,
  name,
  onChange,
}: {
  readonly settings: S;
  readonly name: NamesOf<S, boolean>;
  readonly onChange: (settings: PatternSettings) => void;
}): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={settings[name] === true}
        onChange={(event) => onChange({ ...settings, [name]: event.currentTarget.checked })}
      />
      {labelOf(name)}
    </label>
  );
}

export function Choice<Id extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: Id;
  readonly options: readonly (readonly [Id, string])[];
  readonly onChange: (id: Id) => void;
}): JSX.Element {
  return (
    <Field label={label}>
      {(ids) => (
        <select
          {...ids}
          value={value}
          onChange={(event) => {
            const next = options.find(([id]) => id === event.currentTarget.value);
            if (next !== undefined) onChange(next[0]);
          }}
        >
          {options.map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
