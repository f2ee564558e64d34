import { Hand, House, PlaneLanding } from 'lucide';
import type { JSX } from 'preact';
import { type Commands, STOP_HOLD_MS } from '../../commands/orders.ts';
import flyCss from '../../pages/fly/dock.module.css';
import { DockHold } from '../../pages/fly/dock-button.tsx';
import { t } from '../../strings.ts';

/** What ends a flight, always in sight. @param none why nothing can be given; null: something can */
export function Dock({
  commands,
  none,
}: {
  readonly commands: Commands;
  readonly none: string | null;
}): JSX.Element {
  // What is in the way of all is said by each that is touched.
  const given = {
    ...commands,
    whyNot: (cmd: Parameters<Commands['whyNot']>[0]) =>
      commands.whyNot(cmd) && (none ?? commands.whyNot(cmd)),
  };
  return (
    <div class={flyCss['dock']} role="group" aria-label={t.fly.actions}>
      <DockHold
        commands={given}
        icon={PlaneLanding}
        word={t.fly.land}
        name={t.fly.land}
        order={{ cmd: 'land' }}
      />
      <DockHold commands={given} icon={House} word={t.fly.rtl} name={t.fly.rtl} order={{ cmd: 'rtl' }} />
      <DockHold
        commands={given}
        kind="primary"
        icon={Hand}
        word={t.fly.stopWord}
        name={t.fly.stop}
        order={{ cmd: 'stop' }}
        holdMs={STOP_HOLD_MS}
      />
    </div>
  );
}
