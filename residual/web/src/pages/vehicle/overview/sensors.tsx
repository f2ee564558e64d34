import { Check, CircleOff, HeartPulse, OctagonAlert } from 'lucide';
import type { JSX } from 'preact';
import { memberOf } from '../../../../../../shared/member.ts';
import { Asked, Card, EmptyState, Icon } from '../../../parts/parts.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { family } from '../../../vehicle/vehicle-state.ts';
import css from './condition.module.css';
import { sensorsOf } from './sensor-list.ts';

const EVERY_MS = 3000;
const MARKS = { good: Check, bad: OctagonAlert, off: CircleOff } as const;
const CLASSES = { good: css['good'], bad: css['bad'], off: css['off'] } as const;
const text = t.vehicle.overview;

/** What the vehicle has, and whether it is healthy; the sick first. */
export function Sensors(): JSX.Element {
  const asked = useAsk('mavlink.messages.get', { query: { name: 'SYS_STATUS' } }, EVERY_MS);
  const last =
    asked.data?.messages.find((message) => message.last !== null && message.age_s < 10)?.last ?? null;
  const bits = (which: string): number => {
    const value = memberOf(last, `onboard_control_sensors_${which}`);
    return typeof value === 'number' ? value : 0;
  };
  const sensors = sensorsOf(bits('present'), bits('enabled'), bits('health')).toSorted(
    (a, b) => Number(b.state === 'bad') - Number(a.state === 'bad'),
  );
  return (
    <Card title={text.sensors} icon={HeartPulse}>
      <Asked
        of={asked}
        empty={() =>
          sensors.length === 0 ? (
            <EmptyState text={family.value === null ? text.notHeard : text.noSensors} />
          ) : null
        }
      />
      <ul class={css['sensors']} aria-label={text.sensors}>
        {sensors.map(({ id, icon, state }) => (
          <li key={id} class={CLASSES[state]}>
            <Icon of={icon} />
            <span>
              {text.sensorNames[id]}
              <small>
                <Icon of={MARKS[state]} /> {text.sensorStates[state]}
              </small>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
