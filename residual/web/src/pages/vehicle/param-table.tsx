import { Fragment, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { shownFloat } from '../../../../../shared/flight/shown-float.ts';
import { Badge, Button, Field } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { hasBit, isChanged, isOutside, isSame, meaning, type Param } from './param.ts';
import { stage, staged } from './staged-values.ts';
import css from './vehicle.module.css';

const PAGE = 100;

/** Parameters as a table; the chosen row opens with what describes it and the field to change it. */
export function ParamTable({ params, total }: { params: readonly Param[]; total: number }): JSX.Element {
  const [open, setOpen] = useState<string | null>(null);
  const [count, setCount] = useState(PAGE);
  useEffect(() => setCount(PAGE), [params.length]);
  return (
    <>
      <p class="hint" role="status">
        {t.vehicle.params.found(params.length, total)}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label={t.vehicle.params.table}>
        <table class={css['params']}>
          <thead>
            <tr>
              <th>{t.vehicle.params.name}</th>
              <th class="number">{t.vehicle.params.value}</th>
              <th>{t.vehicle.params.meaning}</th>
            </tr>
          </thead>
          <tbody>
            {params.slice(0, count).map((param) => (
              <Fragment key={param.name}>
                <Row
                  param={param}
                  isOpen={open === param.name}
                  onOpen={() => setOpen(open === param.name ? null : param.name)}
                />
                {open === param.name ? (
                  <tr class={css['editor']}>
                    <td colSpan={3}>
                      <Editor param={param} />
                    </td>
                  </tr>
                ) : null}
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
      {params.length > count ? (
        <Button onClick={() => setCount(count + 5 * PAGE)}>
          {t.vehicle.params.more(params.length - count)}
        </Button>
      ) : null}
    </>
  );
}

function Row({ param, isOpen, onOpen }: { param: Param; isOpen: boolean; onOpen: () => void }): JSX.Element {
  const { name, value, details } = param;
  const next = staged.value.get(name);
  const words = meaning(next ?? value, details);
  const label = details?.metadata?.label ?? null;
  return (
    <tr class={next === undefined ? '' : 'staged'}>
      <td>
        <button type="button" class={css['link']} aria-expanded={isOpen} onClick={onOpen}>
          {name}
        </button>
        {label === null ? null : <div class="hint">{label}</div>}
      </td>
      <td class="number">
        {next === undefined ? (
          shownFloat(value)
        ) : (
          <>
            <s>{shownFloat(value)}</s> <strong>{shownFloat(next)}</strong>
          </>
        )}
      </td>
      <td>
        {words} {isChanged(param) === true ? <Badge>{t.vehicle.params.notDefault}</Badge> : null}
      </td>
    </tr>
  );
}

function Editor({ param }: { param: Param }): JSX.Element {
  const { name, value, details } = param;
  const now = staged.value.get(name) ?? value;
  const about = details?.metadata ?? null;
  const initial = details?.default ?? null;
  const set = (next: number): void => stage(name, isSame(next, value) ? null : next);
  const range =
    about === null || (about.min === null && about.max === null)
      ? null
      : t.vehicle.params.range(
          about.min === null ? null : shownFloat(about.min),
          about.max === null ? null : shownFloat(about.max),
          about.units ?? '',
        );
  return (
    <>
      {about?.description == null ? null : <p>{about.description}</p>}
      {about === null ? <p class="hint">{t.vehicle.params.undescribed}</p> : null}
      <div class={css['edit']}>
        {about?.values != null && about.values.some((each) => isSame(each.value, now)) ? (
          <Field label={t.vehicle.params.choose(name)}>
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
                checked={hasBit(now, bit)}
                onChange={(event) => set(now + (event.currentTarget.checked ? 1 : -1) * 2 ** bit)}
              />{' '}
              {text}
            </label>
          ))}
        </fieldset>
      )}
      <div class="row">
        {initial === null ? null : (
          <Button onClick={() => set(initial)} why={isSame(now, initial) ? '' : null}>
            {t.vehicle.params.toDefault(shownFloat(initial))}
          </Button>
        )}
        {staged.value.has(name) ? (
          <Button onClick={() => stage(name, null)}>{t.vehicle.params.unstage}</Button>
        ) : null}
        {about?.reboot_required === true ? <Badge tone="warn">{t.vehicle.params.reboot}</Badge> : null}
      </div>
    </>
  );
}

function ValueInput({
  name,
  value,
  hint,
  error,
  onChange,
}: {
  name: string;
  value: number;
  hint: string | null;
  error: string | null;
  onChange: (value: number) => void;
}): JSX.Element {
  const [text, setText] = useState(shownFloat(value));
  useEffect(() => {
    if (!isSame(Number(text), value)) setText(shownFloat(value));
  }, [value]);
  return (
    <Field label={t.vehicle.params.newValue(name)} hint={hint} error={error}>
      {(ids) => (
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
      )}
    </Field>
  );
}
