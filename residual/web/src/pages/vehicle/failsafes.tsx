import {
  BatteryLow,
  BatteryWarning,
  Fence,
  type IconNode,
  LocateOff,
  MonitorOff,
  Settings2,
  WifiOff,
} from 'lucide';
import type { JSX } from 'preact';
import { type Failsafe, failsafesOf } from '../../../../../shared/flight/failsafes.ts';
import type { Family } from '../../../../../shared/flight/modes.ts';
import { hrefOf } from '../../app/route.ts';
import { Card, EmptyState, Icon } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { failsafeSentence } from '../../vehicle/failsafe-sentence.ts';
import type { Param } from '../../vehicle/param.ts';
import css from './vehicle.module.css';

const ICONS: Readonly<Record<Failsafe['failure'], IconNode>> = {
  radio: WifiOff,
  station: MonitorOff,
  low: BatteryLow,
  critical: BatteryWarning,
  estimator: LocateOff,
  fence: Fence,
};

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
      {found.length === 0 ? (
        <EmptyState icon={Settings2} text={t.vehicle.setup.noFailsafes} />
      ) : (
        <p class="hint">{t.vehicle.setup.failsafesHint}</p>
      )}
      <ul class={css['tiles']}>
        {found.map((each) => (
          <li key={each.failure} class={each.off ? css['off'] : ''}>
            <Icon of={ICONS[each.failure]} />
            <p>{failsafeSentence(each, params.get(each.param))}</p>
            <a
              class="button plain"
              href={hrefOf('vehicle', 'parameters', each.param)}
              aria-label={t.vehicle.setup.change({ param: each.param })}
            >
              {each.param}
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}
