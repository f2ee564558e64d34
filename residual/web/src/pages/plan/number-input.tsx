import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Field } from '../../parts/parts.tsx';

/** A number that is taken over when the field is left or Enter is pressed. @param empty what an empty field means; undefined: it must not be */
export function NumberInput<E extends null | undefined = undefined>({
  label,
  value,
  empty,
  hint,
  step = 'any',
  onChange,
}: {
  label: string;
  value: number | null;
  empty?: E;
  hint?: string;
  step?: number | 'any';
  onChange: (value: E extends null ? number | null : number) => void;
}): JSX.Element {
  const shown = value === null ? '' : String(value);
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const take = (): void => {
    const parsed = text.trim() === '' ? empty : Number(text);
    if (parsed === undefined || Number.isNaN(parsed)) setText(shown);
    else if (parsed !== value) onChange(parsed);
  };
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(ids) => (
        <input
          {...ids}
          type="number"
          inputMode="decimal"
          step={step}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onBlur={take}
          onKeyDown={(event) => event.key === 'Enter' && take()}
        />
      )}
    </Field>
  );
}
