import { Power as PowerIcon, RotateCw } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Card, HoldButton } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { t } from '../../strings.ts';

const HOLD_MS = 2000;

/** Reboot and power off. */
export function Power(): JSX.Element {
  const act = useGuarded();
  const text = t.node.power;
  const ask = (id: 'system.reboot.post' | 'system.shutdown.post', done: string): void => {
    void act.run(async (force) => {
      await call(id, { body: forced(force, {}) });
      say(done, 'warn');
    });
  };
  return (
    <Card title={text.title} icon={PowerIcon}>
      <p class="hint">{text.hint}</p>
      <div class="row">
        <HoldButton
          row="system.reboot.post"
          kind="plain"
          icon={RotateCw}
          holdMs={HOLD_MS}
          busy={act.busy}
          onConfirm={() => ask('system.reboot.post', text.rebooting)}
        >
          {text.reboot}
        </HoldButton>
        <HoldButton
          row="system.shutdown.post"
          kind="danger"
          icon={PowerIcon}
          holdMs={HOLD_MS}
          busy={act.busy}
          onConfirm={() => ask('system.shutdown.post', text.stopping)}
        >
          {text.shutdown}
        </HoldButton>
      </div>
      <GuardNote act={act} />
    </Card>
  );
}
