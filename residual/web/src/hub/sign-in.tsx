import { Drone } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Refused } from '../api/client.ts';
import { textIn } from '../parts/form-text.ts';
import { Button, ErrorNote, Field, Icon, Note } from '../parts/parts.tsx';
import { useAct } from '../parts/use-ask.ts';
import { ended, signIn } from './client.ts';
import { hub } from './words.ts';

/** Asks for an operator's credential, which is tried before the page is shown. */
export function SignIn(): JSX.Element {
  const [keep, setKeep] = useState(false);
  const { busy, error, run } = useAct();
  const text = hub.signIn;
  const enter = async (secret: string): Promise<void> => {
    if (!secret.startsWith('svc_op_')) throw new Refused(0, 'E_INVALID_VALUE', text.unknown);
    await signIn(secret, keep);
  };
  return (
    <main class="sign-in" id="content" tabIndex={-1}>
      <div class="who">
        <span>
          <Icon of={Drone} />
        </span>
        <h1>{hub.title}</h1>
        <p>{text.about}</p>
      </div>
      {ended.value ? <Note tone="warn">{text.ended}</Note> : null}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const secret = textIn(event.currentTarget, 'secret').trim();
          void run(async () => enter(secret));
        }}
      >
        <Field label={text.secret} hint={text.hint}>
          {(ids) => (
            <input
              {...ids}
              name="secret"
              type="password"
              autocomplete="current-password"
              required
              autofocus
            />
          )}
        </Field>
        <label class="check">
          <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />{' '}
          {text.keep}
        </label>
        <p class="hint">{text.keepHint}</p>
        <ErrorNote error={error} />
        <Button type="submit" kind="primary" busy={busy}>
          {text.title}
        </Button>
      </form>
    </main>
  );
}
