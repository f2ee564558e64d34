import { ChevronRight, Circle, CircleCheck, CircleHelp, ListChecks } from 'lucide';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { newest } from '../../../api/telemetry.ts';
import { Card, Icon } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { sectionHref } from '../../../vehicle/section.ts';
import { family } from '../../../vehicle/vehicle-state.ts';
import css from './condition.module.css';
import { STEPS, stepsOf } from './steps.ts';

const text = t.vehicle.overview;

/** What a vehicle needs before its first flight, and whether it has been done. */
export function Ahead({
  value,
  isReading,
  onLook,
}: {
  readonly value: (name: string) => number | null;
  readonly isReading: boolean;
  readonly onLook: () => void;
}): JSX.Element | null {
  const kind = family.value;
  const generation = newest.value?.['param_generation'];
  useEffect(onLook, [generation]);
  if (kind === null) return null;
  const steps = stepsOf(kind, value);
  return (
    <Card title={text.ahead} icon={ListChecks}>
      {isReading ? <p class="hint">{text.reading}</p> : null}
      <ul class={css['steps']}>
        {STEPS.map((step) => {
          const done = steps[step];
          return (
            <li key={step}>
              <a href={sectionHref('setup', step)}>
                <Icon
                  of={done === null ? CircleHelp : done ? CircleCheck : Circle}
                  class={done === true ? (css['done'] ?? '') : ''}
                />
                <span>
                  <strong>{t.vehicle.sections[step]}</strong>
                  <small>{text.steps[step][done === null ? 'unknown' : done ? 'done' : 'todo']}</small>
                </span>
                <Icon of={ChevronRight} />
              </a>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}
