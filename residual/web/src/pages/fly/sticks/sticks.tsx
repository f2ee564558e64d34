import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { may } from '../../../api/node.ts';
import { Button, Card, Field, HoldButton, Note } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { useCommands, useOtherPilot } from '../commands.ts';
import { useButtons } from './buttons.ts';
import { axesOf, followPads, pads } from './gamepad.ts';
import { holdState, StickHold } from './hold.ts';
import { Mapping } from './mapping.tsx';
import { modeOf, settings } from './settings.ts';
import { MODES, read } from './shape.ts';
import { TouchSticks } from './touch.tsx';

const TOUCH = 'touch';

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

function padHint(): string {
  if (!isSecureContext) return t.fly.sticks.insecure;
  return pads.value.length === 0 ? t.fly.sticks.press : '';
}
