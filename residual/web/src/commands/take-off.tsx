import { Minus, PlaneTakeoff, Plus, Power } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { number } from '../parts/format.ts';
import { Button, Field, SlideConfirm } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import css from './commands.module.css';
import { armOrders, type Commands, takeOffOrders } from './orders.ts';

const USUAL_M = 10;
const LEAST_M = 1;
const MOST_M = 500;

/** Up to a height that is chosen here. @param arms the vehicle is not armed: that is done first */
export function TakeOff({
  commands: { give, whyNot, running, ready, row, readiness },
  arms,
  onGiven,
}: {
  readonly commands: Commands;
  readonly arms: boolean;
  readonly onGiven?: () => void;
}): JSX.Element {
  const [text, setText] = useState(String(USUAL_M));
  const height = Number(text);
  const isValid = text.trim() !== '' && height >= LEAST_M && height <= MOST_M;
  const step = (by: number): void => {
    const from = isValid ? height : USUAL_M;
    setText(String(Math.min(MOST_M, Math.max(LEAST_M, Math.round(from) + by))));
  };
  const mode = readiness?.takeOffMode ?? null;
  const name = t.fly.takeoffNow({ height: isValid ? number(height) : t.app.none, arms });
  return (
    <div class={css['take-off']}>
      <Field label={t.fly.takeoffHeight}>
        {(ids) => (
          <div class={css['stepper']}>
            <Button icon={Minus} aria-label={t.fly.lower} onClick={() => step(-stepOf(height))} />
            <input
              {...ids}
              type="number"
              inputMode="decimal"
              min={LEAST_M}
              max={MOST_M}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <Button icon={Plus} aria-label={t.fly.higher} onClick={() => step(stepOf(height + 1))} />
          </div>
        )}
      </Field>
      {mode === null ? null : <p class="hint">{t.fly.takeoffIn({ mode })}</p>}
      <SlideConfirm
        icon={PlaneTakeoff}
        way={t.fly.slide.takeoff}
        busy={running !== null}
        why={whyNot('takeoff') ?? (isValid ? null : t.fly.why.number)}
        {...(ready === undefined ? {} : { onBegin: ready })}
        {...(row === undefined ? {} : { row })}
        onConfirm={() => {
          give(name, ...takeOffOrders(readiness, arms, height));
          onGiven?.();
        }}
      >
        {name}
      </SlideConfirm>
    </div>
  );
}

/** A metre near the ground, ten where they matter less. */
function stepOf(height: number): number {
  return height > 20 ? 10 : height > 10 ? 5 : 1;
}

/** The motors, without leaving the ground. */
export function ArmSlide({
  commands: { give, whyNot, running, ready, row, readiness },
  onGiven,
}: {
  readonly commands: Commands;
  readonly onGiven?: () => void;
}): JSX.Element {
  return (
    <SlideConfirm
      icon={Power}
      way={t.fly.slide.arm}
      busy={running !== null}
      why={whyNot('arm')}
      {...(ready === undefined ? {} : { onBegin: ready })}
      {...(row === undefined ? {} : { row })}
      onConfirm={() => {
        give(t.fly.arm, ...armOrders(readiness));
        onGiven?.();
      }}
    >
      {t.fly.arm}
    </SlideConfirm>
  );
}
