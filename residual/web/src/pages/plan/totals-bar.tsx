import { CircleCheck, Hourglass, TriangleAlert } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { number, span } from '../../parts/format.ts';
import { Button, Dialog, Stat } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import type { Check } from './estimate/checks.ts';
import type { Estimate } from './estimate/use-estimate.ts';
import { heightText } from './height.ts';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';
import type { Sketch } from './sketch.ts';

/** Distance, time, battery and photos of the plan. */
export function TotalsBar({ estimate: { totals, battery, photos } }: { estimate: Estimate }): JSX.Element {
  const { distance, seconds, highest, highestAboveSea } = totals;
  const isLong = distance >= 10_000;
  return (
    <>
      <dl class={css['totals']}>
        <Stat
          label={planWords.figures.distance}
          value={isLong ? number(distance / 1000, 1) : number(distance)}
          unit={isLong ? 'km' : 'm'}
        />
        <Stat label={planWords.figures.time} value={seconds === null ? null : span(seconds)} />
        <Stat
          label={planWords.battery.label}
          value={
            battery.part === null ? null : planWords.battery.percent({ percent: number(battery.part * 100) })
          }
          tone={battery.part !== null && battery.part > 0.8 ? 'warn' : undefined}
        />
        {photos === 0 ? (
          <Stat
            label={planWords.figures.highest({
              above: planWords.above[highest === null && highestAboveSea !== null ? 'sea' : 'home'],
            })}
            value={highest === null && highestAboveSea === null ? null : number(highest ?? highestAboveSea)}
            unit="m"
          />
        ) : (
          <Stat label={planWords.photos} value={String(photos)} />
        )}
      </dl>
    </>
  );
}

/** What is worth a look, behind its count. */
export function ChecksButton({
  sketch,
  estimate,
}: {
  sketch: Sketch;
  estimate: Estimate;
}): JSX.Element | null {
  const [open, setOpen] = useState(false);
  const { checks, figures, battery, isAwaited } = estimate;
  const notes = [...checks.map((check) => checkText(sketch, check)), ...sketch.warnings.value];
  // Without a mission nothing was looked at.
  if (sketch.lists.value.mission.length === 0) return null;
  const title =
    notes.length === 0 && isAwaited ? t.app.loading : planWords.checksTitle({ count: notes.length });
  return (
    <>
      <Button
        kind="quiet"
        icon={notes.length > 0 ? TriangleAlert : isAwaited ? Hourglass : CircleCheck}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        {title}
      </Button>
      <Dialog sheet title={title} open={open} onClose={() => setOpen(false)}>
        {notes.length === 0 ? <p>{planWords.checksNone}</p> : null}
        <ul class={css['checks']}>
          {checks.map((check) => (
            <li key={`${check.kind} ${check.at}`}>
              <p>{checkText(sketch, check)}</p>
              <Button
                onClick={() => {
                  setOpen(false);
                  sketch.show('mission', check.at);
                }}
              >
                {planWords.goTo}
              </Button>
            </li>
          ))}
          {sketch.warnings.value.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
        <p class="hint">
          {isAwaited
            ? null
            : figures.speed === null
              ? planWords.noSpeed
              : planWords.speedFrom({ speed: number(figures.speed, 1) })}{' '}
          {battery.words}
        </p>
      </Dialog>
    </>
  );
}

function checkText(sketch: Sketch, check: Check): string {
  const item = sketch.lists.value.mission[check.at]?.seq ?? check.at;
  const words = planWords.check;
  switch (check.kind) {
    case 'noTakeoff':
      return planWords.noTakeoff;
    case 'noEnd':
      return planWords.noEnd;
    case 'noTerrain':
      return words.noTerrain({ item, above: planWords.above.ground });
    case 'fence':
      return words.fence({ item, more: check.count - 1 });
    case 'height':
      return words.height({ item, height: heightText(check.metres, 'home'), most: number(check.most) });
    case 'far':
      return words.far({ item, metres: number(check.metres) });
    case 'fenceFar':
      return words.fenceFar({ item, metres: number(check.metres), most: number(check.most) });
    case 'low':
      return words.low({ item, height: heightText(check.metres, 'home', 1) });
    case 'terrain':
      return words.terrain({ item, height: heightText(check.metres, 'ground', 1) });
    case 'battery':
      return words.battery({ item, minutes: number(check.minutes, 1), most: number(check.most, 1) });
    case 'shutter':
      return words.shutter({ item, seconds: number(check.seconds, 1), least: number(check.least, 1) });
  }
}
