import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { modeChoices } from '../../../../../../shared/flight/modes.ts';
import { Field } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { family } from '../../../vehicle/vehicle-state.ts';
import { nameOf, ORDERS } from './buttons.ts';
import { axesOf, type Pad } from './gamepad.ts';
import { change, modeOf, settings } from './settings.ts';
import { type Axis, FUNCTIONS, MODES } from './shape.ts';
import css from './sticks.module.css';

const LOOK_MS = 50;

/** Which axis does what, how softly, and what the buttons do. */
export function Mapping({ pad }: { readonly pad: Pad | undefined }): JSX.Element {
  const { dead, expo, axes } = settings.value;
  const mode = modeOf();
  return (
    <>
      <Field label={t.fly.sticks.mode} hint={t.fly.sticks.modeHint}>
        {(ids) => (
          <select
            {...ids}
            value={mode ?? ''}
            onChange={(event) => {
              const wanted = ([1, 2, 3, 4] as const).find(
                (each) => String(each) === event.currentTarget.value,
              );
              if (wanted !== undefined) change({ axes: MODES[wanted] });
            }}
          >
            {mode === null ? <option value="">{t.fly.sticks.own}</option> : null}
            {([1, 2, 3, 4] as const).map((each) => (
              <option key={each} value={each}>
                {t.fly.sticks.modes[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Share name={t.fly.sticks.dead} value={dead} most={0.3} onChange={(value) => change({ dead: value })} />
      <Share name={t.fly.sticks.expo} value={expo} most={1} onChange={(value) => change({ expo: value })} />
      {pad === undefined ? null : (
        <>
          <div class={css['axes']}>
            {FUNCTIONS.map((name) => (
              <AxisRow
                key={name}
                name={t.fly.sticks.functions[name]}
                pad={pad}
                axis={axes[name]}
                onChange={(axis) => change({ axes: { ...axes, [name]: axis } })}
              />
            ))}
          </div>
          <ButtonRows pad={pad} />
        </>
      )}
    </>
  );
}

function Share({
  name,
  value,
  most,
  onChange,
}: {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  readonly onChange: (value: number) => void;
}): JSX.Element {
  return (
    <Field label={`${name}: ${Math.round(value * 100)} %`}>
      {(ids) => (
        <input
          {...ids}
          type="range"
          min={0}
          max={most}
          step={0.01}
          value={value}
          onInput={(event) => onChange(Number(event.currentTarget.value))}
        />
      )}
    </Field>
  );
}

function AxisRow({
  name,
  pad,
  axis,
  onChange,
}: {
  readonly name: string;
  readonly pad: Pad;
  readonly axis: Axis;
  readonly onChange: (axis: Axis) => void;
}): JSX.Element {
  const [value, setValue] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setValue(axesOf(pad.index)?.[axis.index] ?? 0), LOOK_MS);
    return () => clearInterval(timer);
  }, [pad.index, axis.index]);
  return (
    <>
      <span>{name}</span>
      <meter
        aria-label={t.fly.sticks.now({ name })}
        min={-1}
        max={1}
        value={axis.inverted ? -value : value}
      />
      <select
        aria-label={t.fly.sticks.axisOf({ name })}
        value={axis.index}
        onChange={(event) => onChange({ ...axis, index: Number(event.currentTarget.value) })}
      >
        {Array.from({ length: pad.axes }, (_, index) => (
          <option key={index} value={index}>
            {t.fly.sticks.axis({ number: index + 1 })}
          </option>
        ))}
      </select>
      <label>
        <input
          type="checkbox"
          checked={axis.inverted}
          onChange={(event) => onChange({ ...axis, inverted: event.currentTarget.checked })}
        />{' '}
        {t.fly.sticks.inverted}
      </label>
    </>
  );
}

function ButtonRows({ pad }: { readonly pad: Pad }): JSX.Element {
  const { buttons } = settings.value;
  const modes = family.value === null ? [] : modeChoices(family.value);
  return (
    <>
      {Array.from({ length: pad.buttons }, (_, button) => (
        <Field key={button} label={t.fly.sticks.button({ number: button + 1 })}>
          {(ids) => (
            <select
              {...ids}
              value={buttons[button] ?? ''}
              onChange={(event) => change({ buttons: { ...buttons, [button]: event.currentTarget.value } })}
            >
              <option value="">{t.fly.sticks.nothing}</option>
              {[...ORDERS, ...modes].map((what) => (
                <option key={what} value={what}>
                  {nameOf(what)}
                </option>
              ))}
            </select>
          )}
        </Field>
      ))}
    </>
  );
}
