import type { JSX } from 'preact';
import { enter, info } from '../../../api/node.ts';
import { textIn } from '../../../parts/form/form-text.ts';
import { ErrorNote, Field } from '../../../parts/parts.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import type { StepProps } from '../status.ts';
import { setConfig, useConfig } from '../use-config.ts';
import { Primary } from './primary.tsx';

export function NameStep({ complete }: StepProps): JSX.Element {
  const name = useConfig('agent', 'name');
  const { busy, error, run } = useAct();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const given = textIn(event.currentTarget, 'name').trim();
        void run(async () => {
          if (given !== name) await setConfig('agent.name', given);
          await complete();
          await enter();
        });
      }}
    >
      <Field label={t.setup.name.label} hint={t.setup.name.hint}>
        {(ids) => (
          <input
            {...ids}
            name="name"
            key={typeof name}
            defaultValue={typeof name === 'string' ? name : ''}
            placeholder={info.value?.name ?? ''}
            maxLength={64}
            autocomplete="off"
          />
        )}
      </Field>
      <ErrorNote error={error} />
      <Primary busy={busy} row="config.put">
        {t.setup.next}
      </Primary>
    </form>
  );
}
