import { RectangleEllipsis } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { credential } from '../../api/credential.ts';
import { denied } from '../../api/node.ts';
import { holdKey, holdSession } from '../../api/sign-in.ts';
import { Closed } from '../../parts/closed.tsx';
import { textIn } from '../../parts/form/form-text.ts';
import { span } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote, Field, HoldButton, Note } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

/** The PIN with which people sign in. A change ends every session; who changes it goes on with a new one. */
export function Pin(): JSX.Element {
  const asked = useAsk('dashboard.pin.status.get');
  const { data, reload } = asked;
  const act = useAct();
  const [differ, setDiffer] = useState(false);
  const text = t.access.pin;
  const closed = denied('dashboard.pin.set.post');
  const kind = credential.value?.kind ?? null;
  // The key and a session speak for themselves; others prove that they know the present PIN.
  const asksCurrent = data?.pin_set === true && kind !== 'key' && kind !== 'session';
  const set = (form: HTMLFormElement): void => {
    const given = (name: string): string => textIn(new FormData(form), name);
    setDiffer(given('pin') !== given('repeat'));
    if (given('pin') !== given('repeat')) return;
    void act.run(async () => {
      const answer = await call('dashboard.pin.set.post', {
        body: { pin: given('pin'), ...(asksCurrent ? { current_pin: given('current') } : {}) },
      });
      form.reset();
      say(text.done, 'good');
      if (!asksCurrent && kind !== null) holdSession(answer);
      reload();
    });
  };
  const clear = (): void => {
    void act.run(async () => {
      await call('dashboard.pin.clear.post', { body: {} });
      const held = credential.value;
      if (held?.kind === 'key') await holdKey(held.value); // its session ended with the others
      reload();
    });
  };
  return (
    <Card title={text.title} icon={RectangleEllipsis}>
      <Asked of={asked} />
      {data === null ? null : (
        <p>
          <Badge tone={data.pin_set ? 'good' : 'warn'}>{data.pin_set ? text.isSet : text.notSet}</Badge>
        </p>
      )}
      {data?.locked === true ? (
        <Note tone="warn">{text.locked({ time: span(data.retry_after_s) })}</Note>
      ) : null}
      {closed === null ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            set(event.currentTarget);
          }}
        >
          {asksCurrent ? (
            <Field label={text.current}>
              {(ids) => (
                <input
                  {...ids}
                  name="current"
                  type="password"
                  inputMode="numeric"
                  autocomplete="current-password"
                  required
                />
              )}
            </Field>
          ) : null}
          <Field label={text.next} hint={text.hint}>
            {(ids) => (
              <input
                {...ids}
                name="pin"
                type="password"
                inputMode="numeric"
                pattern="[0-9]{4,12}"
                autocomplete="new-password"
                required
              />
            )}
          </Field>
          <Field label={text.repeat} error={differ ? text.differ : null}>
            {(ids) => (
              <input
                {...ids}
                name="repeat"
                type="password"
                inputMode="numeric"
                autocomplete="new-password"
                required
              />
            )}
          </Field>
          <ErrorNote error={act.error} />
          <div class="row">
            <Button type="submit" kind="primary" busy={act.busy}>
              {data?.pin_set === true ? text.change : text.set}
            </Button>
            {data?.pin_set === true && denied('dashboard.pin.clear.post') === null ? (
              <HoldButton kind="danger" busy={act.busy} onConfirm={clear}>
                {text.clear}
              </HoldButton>
            ) : null}
          </div>
        </form>
      ) : (
        <Closed why={closed} />
      )}
      {data?.pin_set === true && closed === null && denied('dashboard.pin.clear.post') === 'key-only' ? (
        <details>
          <summary>{text.clear}</summary>
          <Closed why="key-only" />
        </details>
      ) : null}
    </Card>
  );
}
