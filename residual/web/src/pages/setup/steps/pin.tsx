import type { JSX } from 'preact';
import { call, Refused } from '../../../api/client.ts';
import { holdSession } from '../../../api/sign-in.ts';
import { textIn } from '../../../parts/form-text.ts';
import { Button, ErrorNote, Field } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import type { StepProps } from '../status.ts';

export function PinStep({ step, complete }: StepProps): JSX.Element {
  const { busy, error, run } = useAct();
  const isSet = step.state === 'complete';
  const set = async (pin: string, again: string): Promise<void> => {
    if (pin !== again) throw new Refused(0, 'E_INVALID_VALUE', t.setup.pin.differ);
    const opened = await call('dashboard.pin.set.post', { body: { pin } });
    say(t.setup.pin.done, 'good');
    await complete();
    holdSession(opened);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const [pin, again] = [textIn(event.currentTarget, 'pin'), textIn(event.currentTarget, 'again')];
        void run(async () => set(pin, again));
      }}
    >
      <Field label={isSet ? t.setup.pin.another : t.setup.pin.label} hint={t.setup.pin.hint}>
        {(ids) => <PinInput {...ids} name="pin" />}
      </Field>
      <Field label={t.setup.pin.again}>{(ids) => <PinInput {...ids} name="again" />}</Field>
      <ErrorNote error={error} />
      <Button
        type="submit"
        kind={isSet ? 'plain' : 'primary'}
        busy={busy}
        row="dashboard.pin.set.post"
        explain
      >
        {isSet ? t.setup.pin.change : t.setup.setAndNext}
      </Button>
    </form>
  );
}

function PinInput(props: {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
  name: string;
}): JSX.Element {
  return (
    <input
      {...props}
      type="password"
      inputMode="numeric"
      pattern="[0-9]{4,12}"
      minLength={4}
      maxLength={12}
      autocomplete="new-password"
      required
    />
  );
}
