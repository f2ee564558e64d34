import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { armed } from '../../../api/telemetry.ts';
import { number } from '../../../parts/format.ts';
import { ErrorNote, HoldButton, Note } from '../../../parts/parts.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';

const text = t.vehicle.params;

/** Reboots the flight controller, and says when it is back. */
export function RebootAutopilot({ onBack }: { readonly onBack?: () => void }): JSX.Element {
  const { busy, error, run } = useAct();
  const [outcome, setOutcome] = useState<string | null>(null);
  const reboot = async (): Promise<void> => {
    setOutcome(null);
    const {
      status,
      ack,
      back_after_s: back,
    } = await call('command.post', { body: { cmd: 'rebootAutopilot' } });
    if (typeof back === 'number') {
      setOutcome(text.rebooted({ seconds: number(back, 1) }));
      onBack?.();
    } else if (status === 'rejected')
      setOutcome(text.rebootRefused({ words: ack.statustext ?? ack.result_name ?? '' }));
    else setOutcome(text.rebootLost);
  };
  return (
    <div>
      <HoldButton
        row="command.post"
        kind="plain"
        busy={busy}
        why={armed.value === false ? null : t.fly.why.armed}
        onConfirm={() => void run(reboot)}
      >
        {busy ? text.rebooting : text.rebootNow}
      </HoldButton>
      <ErrorNote error={error} />
      {outcome === null ? null : <Note>{outcome}</Note>}
    </div>
  );
}
