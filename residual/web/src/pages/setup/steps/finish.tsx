import type { JSX } from 'preact';
import { call } from '../../../api/client.ts';
import { go, hrefOf } from '../../../app/route.ts';
import { Button, ErrorNote, HoldButton } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../setup.module.css';
import type { StepProps } from '../status.ts';

export function FinishStep({ step, reload }: StepProps): JSX.Element {
  const { data } = useAsk('setup.status.get');
  const { busy, error, run } = useAct();
  return (
    <>
      <ul class={css['facts']}>
        {(data?.steps ?? [])
          .filter(({ id, state }) => id !== 'finish' && state !== 'not_applicable')
          .map(({ id, state, detail }) => (
            <li key={id}>
              <a href={hrefOf('setup', id)}>{t.setup.step[id].name}</a>: {t.setup.state[state]}
              <br />
              <span class="hint">{detail}</span>
            </li>
          ))}
      </ul>
      <ErrorNote error={error} />
      <div class="row">
        <Button
          kind="primary"
          busy={busy}
          row="setup.finish.post"
          explain
          onClick={() =>
            void run(async () => {
              await call('setup.finish.post', { body: {} });
              go('fly');
            })
          }
        >
          {step.state === 'complete' ? t.setup.finish.toPage : t.setup.finish.button}
        </Button>
        <HoldButton
          kind="plain"
          busy={busy}
          row="setup.reset.post"
          onConfirm={() =>
            void run(async () => {
              await call('setup.reset.post', { body: {} });
              say(t.setup.finish.wasReset, 'info');
              reload();
              go('setup', 'name');
            })
          }
        >
          {t.setup.finish.reset}
        </HoldButton>
      </div>
      <p class="hint">{t.setup.finish.resetHint}</p>
    </>
  );
}
