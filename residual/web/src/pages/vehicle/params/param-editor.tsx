import { Minus, Plus, RotateCcw } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { shownFloat } from '../../../../../../shared/flight/shown-float.ts';
import { Badge, Button, Field } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { isOutside, isSame, type Param } from '../../../vehicle/param.ts';
import { hasBit, withBit } from '../../../vehicle/param-bits.ts';
import css from './params.module.css';
import { stage, staged } from './staged-values.ts';

/** What describes a parameter, and the field to change it: a choice, bits, or a number with its step. */
export function Editor({ param }: { readonly param: Param }): JSX.Element {
  const { name, value, details } = param;
  const now = staged.value.get(name) ?? value;
  const about = details?.metadata ?? null;
  const initial = details?.default ?? null;
  const set = (next: number): void => stage(name, isSame(next, value) ? null : next);
  const range =
    about === null || (about.min === null && about.max === null)
      ? null
      : t.vehicle.params.range({
          min: about.min === null ? null : shownFloat(about.min),
          max: about.max === null ? null : shownFloat(about.max),
          units: about.units ?? '',
        });
  return (
    <div class={css['editor']}>
      {about?.description == null ? null : <p>{about.description}</p>}
      {about === null ? <p class="hint">{t.vehicle.params.undescribed}</p> : null}
      <div class={css['edit']}>
        {about?.values != null && about.values.some((each) => isSame(each.value, now)) ? (
          <Field label={t.vehicle.params.choose({ name })}>
            {(ids) => (
              <select
                {...ids}
                value={String(about.values?.find((each) => isSame(each.value, now))?.value)}
                onChange={(event) => set(Number(event.currentTarget.value))}
              >
                {about.values?.map((each) => (
                  <option key={each.value} value={String(each.value)}>
                    {shownFloat(each.value)}: {each.text}
                  </option>
                ))}
              </select>
            )}
          </Field>
        ) : null}
        <ValueInput
          name={name}
          value={now}
          hint={range}
          error={isOutside(now, details) ? t.vehicle.params.outside : null}
          step={about?.increment ?? null}
          onChange={set}
        />
      </div>
      {about?.bitmask == null ? null : (
        <fieldset class={css['bits']}>
          <legend>{t.vehicle.params.bits}</legend>
          {about.bitmask.map(({ bit, text }) => (
            <label key={bit} class="check">
              <input
                type="checkbox"
                checked={hasBit(now, bit, details?.type)}
                onChange={(event) => set(withBit(now, bit, event.currentTarget.checked, details?.type))}
              />{' '}
              {text}
            </label>
          ))}
        </fieldset>
      )}
      <div class="row">
        {initial === null ? null : (
          <Button icon={RotateCcw} onClick={() => set(initial)} why={isSame(now, initial) ? '' : null}>
            {t.vehicle.params.toDefault({ value: shownFloat(initial) })}
          </Button>
        )}
        {staged.value.has(name) ? (
          <Button onClick={() => stage(name, null)}>{t.vehicle.params.unstage}</Button>
        ) : null}
        {about?.user_level == null ? null : <Badge>{about.user_level}</Badge>}
        {about?.reboot_required === true ? <Badge tone="warn">{t.vehicle.params.reboot}</Badge> : null}
      </div>
    </div>
  );
}

function ValueInput({
  name,
  value,
  hint,
  error,
  step,
  onChange,
}: {
  name: string;
  value: number;
  hint: string | null;
  error: string | null;
  /** Null: it has none. */
  step: number | null;
  onChange: (value: number) => void;
}): JSX.Element {
  const [text, setText] = useState(shownFloat(value));
  useEffect(() => {
    if (!isSame(Number(text), value)) setText(shownFloat(value));
  }, [value]);
  return (
    <Field label={t.vehicle.params.newValue({ name })} hint={hint} error={error}>
      {(ids) => (
        <div class={css['number']}>
          {step === null || step <= 0 ? null : (
            <Button
              icon={Minus}
              aria-label={t.vehicle.tree.less({ name })}
              onClick={() => onChange(stepped(value, -step))}
            />
          )}
          <input
            {...ids}
            inputMode="decimal"
            autocomplete="off"
            value={text}
            onInput={(event) => {
              const next = event.currentTarget.value;
              setText(next);
              if (next.trim() !== '' && Number.isFinite(Number(next))) onChange(Number(next));
            }}
            onBlur={() => setText(shownFloat(value))}
          />
          {step === null || step <= 0 ? null : (
            <Button
              icon={Plus}
              aria-label={t.vehicle.tree.more({ name })}
              onClick={() => onChange(stepped(value, step))}
            />
          )}
        </div>
      )}
    </Field>
  );
}

/** As the vehicle would hold it: not 0.30000000000000004. */
function stepped(value: number, step: number): number {
  return Number((value + step).toPrecision(7));
}
