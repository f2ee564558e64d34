import { Route } from 'lucide';
import type { JSX } from 'preact';
import { armOrders, type Commands, type Order } from '../../commands/orders.ts';
import { SlideConfirm } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { family, hasMission } from '../../vehicle/vehicle-state.ts';

const START: Order = { cmd: 'missionStart' };

/** From the ground: the vehicle takes off as its mission says. @param arms it is not armed: that is done first */
export function FlyMission({
  commands: { give, whyNot, running, row, readiness },
  arms,
  onGiven,
}: {
  readonly commands: Commands;
  readonly arms: boolean;
  readonly onGiven: () => void;
}): JSX.Element {
  const name = t.fly.missionNow({ arms });
  // PX4 arms with it.
  const first: readonly Order[] = arms && family.value !== 'px4' ? armOrders(readiness) : [];
  return (
    <>
      <p class="hint">{t.fly.missionHint}</p>
      <SlideConfirm
        icon={Route}
        way={t.fly.slide.mission}
        busy={running !== null}
        why={whyNot(arms ? 'arm' : 'missionStart') ?? (hasMission.value ? null : t.fly.why.noMission)}
        {...(row === undefined ? {} : { row })}
        onConfirm={() => {
          give(name, ...first, START);
          onGiven();
        }}
      >
        {name}
      </SlideConfirm>
    </>
  );
}
