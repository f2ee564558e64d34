import { ChevronRight, Circle, CircleCheck, CircleHelp, ListChecks } from 'lucide';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../api/rows.ts';
import { newest } from '../../../api/telemetry.ts';
import { Asked, Card, Icon } from '../../../parts/parts.tsx';
import type { AskState } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { sectionHref } from '../../../vehicle/section.ts';
import { family } from '../../../vehicle/vehicle-state.ts';
import css from './condition.module.css';
import { STEPS, stepsOf } from './steps.ts';

const text = t.vehicle.overview;

/** What a vehicle needs before its first flight, and whether it has been done. */
export function Ahead({
  value,
  asked,
}: {
  readonly value: (name: string) => number | null;
  readonly asked: AskState<Answer<'params.get'>>;
}): JSX.Element | null {
  const kind = family.value;
  const generation = newest.value?.['param_generation'];
  useEffect(asked.reload, [generation]);
  if (kind === null) return null;
  const steps = stepsOf(kind, value);
  // Of those that were not read yet it is not known whether they say it.
  const isReading = asked.data?.priming === true || Object.keys(asked.data?.params ?? {}).length === 0;
  return (
    <Card title={text.ahead} icon={ListChecks}>
      <Asked of={asked}>{() => (isReading ? <p class="hint">{text.reading}</p> : null)}</Asked>
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
                  <small>
                    {done === null && isReading
                      ? ''
                      : text.steps[step][done === null ? 'unknown' : done ? 'done' : 'todo']}
                  </small>
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
