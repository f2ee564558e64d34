import type { JSX } from 'preact';
import { call } from '../../../api/client.ts';
import { holdSession } from '../../../api/sign-in.ts';
import { textIn } from '../../../parts/form/form-text.ts';
import { ErrorNote, Field } from '../../../parts/parts.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../setup.module.css';
import type { StepProps } from '../status.ts';
import { Primary } from './primary.tsx';

/** The digits are in sight while they are chosen: so they need not be typed twice. */
export function PinStep({ step, complete }: StepProps): JSX.Element {
  const { busy, error, run } = useAct();
  const isSet = step.state === 'complete';
  const set = async (pin: string): Promise<void> => {
    const opened = await call('dashboard.pin.set.post', { body: { pin } });
    await complete();
    holdSession(opened);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const pin = textIn(event.currentTarget, 'pin');
        void run(async () => set(pin));
      }}
    >
      <Field label={isSet ? t.setup.pin.another : t.setup.pin.label} hint={t.setup.pin.hint}>
        {(ids) => (
          <input
            {...ids}
            name="pin"
            class={css['pin']}
            inputMode="numeric"
            pattern="[0-9]{4,12}"
            minLength={4}
            maxLength={12}
            autocomplete="off"
            required
          />
        )}
      </Field>
      <ErrorNote error={error} />
      <Primary busy={busy} row="dashboard.pin.set.post">
        {isSet ? t.setup.pin.change : t.setup.next}
      </Primary>
    </form>
  );
}
