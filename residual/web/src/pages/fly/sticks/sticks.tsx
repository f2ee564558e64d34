import { Gamepad2, X } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { may } from '../../../api/node.ts';
import type { Commands } from '../../../commands/orders.ts';
import type { SheetName } from '../../../commands/sheet-name.ts';
import { Button, Field, HoldButton, Note, Unfold } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { FlightSheet } from '../sheets.tsx';
import { useButtons } from './buttons.ts';
import { axesOf, followPads, pads } from './gamepad.ts';
import { holdState, StickHold } from './hold.ts';
import { Mapping } from './mapping.tsx';
import { modeOf, settings } from './settings.ts';
import { MODES, read } from './shape.ts';
import css from './sticks.module.css';
import { TouchSticks } from './touch.tsx';

const TOUCH = 'touch';
const PASSING_MS = 8000;

/** Flying by hand: with a gamepad, or with two thumbs on the screen. Taken in a sheet; over the picture while it goes on. */
export function Sticks({
  shown,
  commands,
  otherPilot,
  onClose,
}: {
  readonly shown: SheetName | null;
  readonly commands: Commands;
  readonly otherPilot: string | null;
  readonly onClose: () => void;
}): JSX.Element | null {
  const [chosen, setChosen] = useState<string>(TOUCH);
  const [hold, setHold] = useState<StickHold | null>(null);
  const thumbs = useRef<readonly number[]>([0, 0, 0, 0]);
  useEffect(followPads, []);
  // Whoever leaves the page lets go.
  useEffect(() => () => hold?.stop(), [hold]);
  const { phase, refusal } = holdState.value;
  const active = phase !== 'off' && phase !== 'lost';
  // That nothing is sent any more is told in passing.
  useEffect(() => {
    if (phase !== 'off' || hold === null) return;
    const timer = setTimeout(() => setHold(null), PASSING_MS);
    return () => clearTimeout(timer);
  }, [phase, hold]);
  const pad = pads.value.find(({ index }) => String(index) === chosen);
  useButtons(active ? pad : undefined, commands);
  if (!may('command.post') || !may('manual.ws.ws')) return null;
  const begin = (): void => {
    setHold(
      new StickHold(() => {
        const axes = pad === undefined ? thumbs.current : axesOf(pad.index);
        // Thumbs need no mapping but the mode of the transmitter.
        return axes === null ? null : read(axes, pad === undefined ? touchSettings() : settings.peek());
      }),
    );
    onClose();
  };
  const letGo = (
    <Button kind="primary" onClick={() => hold?.stop()}>
      {t.fly.sticks.letGo}
    </Button>
  );
  const state = (
    <>
      <p role="status" class={phase === 'lost' ? 'error' : 'hint'}>
        {t.fly.sticks.phase[phase]}
      </p>
      {refusal === null ? null : <Note tone="warn">{refusal}</Note>}
    </>
  );
  return (
    <>
      {hold === null ? null : (
        <div class={`${css['overlay']} ${active ? 'active' : ''}`}>
          <div class={css['bar']}>
            {state}
            {active ? (
              letGo
            ) : (
              <Button icon={X} kind="quiet" aria-label={t.app.close} onClick={() => setHold(null)} />
            )}
          </div>
          {active && pad === undefined ? (
            <TouchSticks
              onMove={(axes) => {
                thumbs.current = axes;
              }}
            />
          ) : null}
        </div>
      )}
      <FlightSheet title={t.fly.sticks.title} name="sticks" {...{ shown, commands, onClose }}>
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
          letGo
        ) : (
          <HoldButton
            row="manual.ws.ws"
            icon={Gamepad2}
            why={otherPilot === null ? null : t.fly.why.notPilot({ who: otherPilot })}
            onConfirm={begin}
          >
            {t.fly.sticks.take}
          </HoldButton>
        )}
        {state}
        <Unfold title={t.fly.sticks.settings}>
          <Mapping pad={pad} />
        </Unfold>
      </FlightSheet>
    </>
  );
}

/** As the settings say, but for the axes: the screen has those of a standard gamepad in the mode that fits best. */
function touchSettings(): ReturnType<typeof settings.peek> {
  const set = settings.peek();
  return { ...set, axes: MODES[modeOf() ?? 2] };
}

function padHint(): string {
  if (!isSecureContext) return t.fly.sticks.insecure;
  return pads.value.length === 0 ? t.fly.sticks.press : '';
}
