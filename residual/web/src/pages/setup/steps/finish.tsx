import { ChevronRight, CircleCheckBig, CircleDashed, TriangleAlert } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../../api/client.ts';
import { isGround } from '../../../api/node.ts';
import { go, hrefOf } from '../../../app/route.ts';
import { ErrorNote, HoldButton, Icon, Progress, Unfold } from '../../../parts/parts.tsx';
import { restartAll } from '../../../parts/restart.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../setup.module.css';
import type { StepProps } from '../status.ts';
import { inOrder } from '../way.ts';
import { Primary } from './primary.tsx';

const LOOK_MS = 3000;
const LOOKS = {
  complete: [CircleCheckBig, 'good'],
  needs_action: [TriangleAlert, 'warn'],
  optional: [CircleDashed, ''],
  skipped: [CircleDashed, ''],
} as const;

/** What works now; each line leads to its question. */
export function FinishStep({ reload }: StepProps): JSX.Element {
  const { data } = useAsk('setup.status.get', {}, LOOK_MS);
  const { busy, error, run } = useAct();
  return (
    <>
      <ul class={css['works']}>
        {inOrder(data?.steps ?? []).map(({ id, state, detail }) =>
          id === 'finish' || state === 'not_applicable' ? null : (
            <li key={id}>
              <a href={hrefOf('setup', id)}>
                <Icon of={LOOKS[state][0]} class={LOOKS[state][1]} />
                <span>
                  {t.setup.step[id].name}
                  <span class="visually-hidden"> ({t.setup.state[state]})</span>
                  <small>{state === 'skipped' ? t.setup.state.skipped : detail}</small>
                </span>
                <Icon of={ChevronRight} />
              </a>
            </li>
          ),
        )}
      </ul>
      <Unfold title={t.setup.finish.again}>
        <p class="hint">{t.setup.finish.resetHint}</p>
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
      </Unfold>
      <ErrorNote error={error} />
      {busy ? <Progress label={t.setup.finish.restarting} value={null} /> : null}
      <Primary
        busy={busy}
        row="setup.finish.post"
        onClick={() =>
          void run(async () => {
            await call('setup.finish.post', { body: {} });
            await restartAll();
            go(isGround.value ? 'ground' : 'fly');
          })
        }
      >
        {isGround.value ? t.setup.finish.ground : t.setup.finish.fly}
      </Primary>
    </>
  );
}
