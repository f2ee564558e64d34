import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { modeChoices } from '../../../../../../shared/flight/modes.ts';
import { may } from '../../../api/node.ts';
import { Button, Card, Field, HoldButton, Note } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { type Commands, type Order, useCommands, useOtherPilot } from '../commands.ts';
import { family } from '../vehicle-state.ts';
import { axesOf, followPads, type Pad, pads, pressedOf } from './gamepad.ts';
import { holdState, StickHold } from './hold.ts';
import { change, settings } from './settings.ts';
import { FUNCTIONS, MODES, read } from './shape.ts';
import css from './sticks.module.css';
import { TouchSticks } from './touch.tsx';

const TOUCH = 'touch';
const LOOK_MS = 50;
/** Commands that a button may give; arming is not among them. */
const ORDERS = ['stop', 'rtl', 'land'] as const;

/** Flying by hand: with a gamepad, or with two thumbs on the screen. */
export function Sticks(): JSX.Element | null {
  const otherPilot = useOtherPilot();
  const commands = useCommands(otherPilot);
  const [chosen, setChosen] = useState<string>(TOUCH);
  const [hold, setHold] = useState<StickHold | null>(null);
  const thumbs = useRef<readonly number[]>([0, 0, 0, 0]);
  useEffect(followPads, []);
  // Whoever leaves the page lets go.
  useEffect(() => () => hold?.stop(), [hold]);
  const { phase, refusal } = holdState.value;
  const active = phase !== 'off' && phase !== 'lost';
  const pad = pads.value.find(({ index }) => String(index) === chosen);
  useButtons(active ? pad : undefined, commands);
  if (!may('command.post') || !may('manual.ws.ws')) return null;
  const begin = (): void =>
    setHold(
      new StickHold(() => {
        const axes = pad === undefined ? thumbs.current : axesOf(pad.index);
        // Thumbs need no mapping but the mode of the transmitter.
        return axes === null ? null : read(axes, pad === undefined ? touchSettings() : settings.peek());
      }),
    );
  return (
    <Card title={t.fly.sticks.title}>
      <Field label={t.fly.sticks.source} hint={padHint()}>
        {(ids) => (
          <select
            {...ids}
            disabled={active}
            value={pad === undefined ? TOUCH : chosen}
            onChange={(event) => setChosen(event.currentTarget.value)}
          >
            <option value={TOUCH}>{t.fly.sticks.touch}</option>
            {pads.value.map(({ index, name }) => (
              <option key={index} value={String(index)}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {active ? (
        <Button kind="primary" onClick={() => hold?.stop()}>
          {t.fly.sticks.letGo}
        </Button>
      ) : (
        <HoldButton
          row="manual.ws.ws"
          why={otherPilot === null ? null : t.fly.why.notPilot(otherPilot)}
          onConfirm={begin}
        >
          {t.fly.sticks.take}
        </HoldButton>
      )}
      <p role="status" class={phase === 'lost' ? 'error' : 'hint'}>
        {t.fly.sticks.phase[phase]}
      </p>
      {refusal === null ? null : <Note tone="warn">{refusal}</Note>}
      {active && pad === undefined ? (
        <TouchSticks
          onMove={(axes) => {
            thumbs.current = axes;
          }}
        />
      ) : null}
      <details>
        <summary>{t.fly.sticks.settings}</summary>
        <Mapping pad={pad} />
      </details>
    </Card>
  );
}

/** As the settings say, but for the axes: the screen has those of a standard gamepad in the mode that fits best. */
function touchSettings(): ReturnType<typeof settings.peek> {
  const set = settings.peek();
  return { ...set, axes: MODES[modeOf() ?? 2] };
}

/** The mode of a transmitter that the settings are; null: none of them. */
function modeOf(): keyof typeof MODES | null {
  const { axes } = settings.value;
  const same = (mode: keyof typeof MODES): boolean =>
    FUNCTIONS.every(
      (name) =>
        MODES[mode][name].index === axes[name].index && MODES[mode][name].inverted === axes[name].inverted,
    );
  return ([1, 2, 3, 4] as const).find(same) ?? null;
}

function padHint(): string {
  if (!isSecureContext) return t.fly.sticks.insecure;
  return pads.value.length === 0 ? t.fly.sticks.press : '';
}

/** A button that is pressed gives its command, once. */
function useButtons(pad: Pad | undefined, { give, whyNot }: Commands): void {
  const index = pad?.index;
  const act = useRef<(button: number) => void>(() => undefined);
  act.current = (button) => {
    const what = settings.peek().buttons[button];
    if (what === undefined || what === '') return;
    const order = orderOf(what);
    if (whyNot(order.cmd) === null) give(nameOf(what), order);
  };
  useEffect(() => {
    if (index === undefined) return;
    let before: readonly number[] = pressedOf(index);
    const timer = setInterval(() => {
      const pressed = pressedOf(index);
      for (const button of pressed) if (!before.includes(button)) act.current(button);
      before = pressed;
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [index]);
}

function orderOf(what: string): Order {
  const order = ORDERS.find((cmd) => cmd === what);
  return order === undefined ? { cmd: 'mode', args: [what] } : { cmd: order };
}

function nameOf(what: string): string {
  const order = ORDERS.find((cmd) => cmd === what);
  return order === undefined ? t.fly.switchTo(what) : t.fly[order];
}

/** Which axis does what, how softly, and what the buttons do. */
function Mapping({ pad }: { readonly pad: Pad | undefined }): JSX.Element {
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
  readonly axis: { readonly index: number; readonly inverted: boolean };
  readonly onChange: (axis: { readonly index: number; readonly inverted: boolean }) => void;
}): JSX.Element {
  const [value, setValue] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setValue(axesOf(pad.index)?.[axis.index] ?? 0), LOOK_MS);
    return () => clearInterval(timer);
  }, [pad.index, axis.index]);
  return (
    <>
      <span>{name}</span>
      <meter aria-label={t.fly.sticks.now(name)} min={-1} max={1} value={axis.inverted ? -value : value} />
      <select
        aria-label={t.fly.sticks.axisOf(name)}
        value={axis.index}
        onChange={(event) => onChange({ ...axis, index: Number(event.currentTarget.value) })}
      >
        {Array.from({ length: pad.axes }, (_, index) => (
          <option key={index} value={index}>
            {t.fly.sticks.axis(index + 1)}
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
        <Field key={button} label={t.fly.sticks.button(button + 1)}>
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
