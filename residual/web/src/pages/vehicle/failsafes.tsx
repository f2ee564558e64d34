import type { JSX } from 'preact';
import { type Failsafe, failsafesOf } from '../../../../../shared/flight/failsafes.ts';
import type { Family } from '../../../../../shared/flight/modes.ts';
import { number } from '../../parts/format.ts';
import { Card } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import type { Param } from './param.ts';
import { meaning } from './param.ts';

/** What the vehicle does by itself, in words, from its parameters. */
export function Failsafes({
  family,
  params,
}: {
  readonly family: Family;
  readonly params: ReadonlyMap<string, Param>;
}): JSX.Element {
  const found = failsafesOf(family, (name) => params.get(name)?.value ?? null);
  return (
    <Card wide title={t.vehicle.setup.failsafes}>
      {found.length === 0 ? <p class="hint">{t.vehicle.setup.noFailsafes}</p> : null}
      <ul>
        {found.map((each) => (
          <li key={each.failure}>
            {failsafeSentence(each, params.get(each.param))} <small class="hint">{each.param}</small>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** @param param what says what is done, with its description */
export function failsafeSentence(
  { failure, value, off, after }: Failsafe,
  param: Pick<Param, 'details'> | undefined,
): string {
  const done = off
    ? t.vehicle.setup.nothing
    : (meaning(value, param?.details ?? null) ?? t.vehicle.setup.setTo(value));
  const when = after.map(
    (each) => `${number(each.value, Number.isInteger(each.value) ? 0 : 1)} ${each.unit}`,
  );
  return t.vehicle.setup.failsafe[failure](done, when);
}
