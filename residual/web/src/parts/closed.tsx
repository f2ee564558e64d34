import type { JSX } from 'preact';
import type { Refused } from '../api/client.ts';
import { credential } from '../api/credential.ts';
import type { denied } from '../api/node.ts';
import { addKey } from '../api/sign-in.ts';
import { t } from '../strings.ts';
import { textIn } from './form/form-text.ts';
import { Button, ErrorNote, Field, Note } from './parts.tsx';
import { useAct } from './use-ask.ts';

/** Why something is not for this caller; what only the pairing key opens asks for it. */
export function Closed({ why }: { why: NonNullable<ReturnType<typeof denied>> }): JSX.Element {
  return (
    <>
      <Note>{t.denied[why]}</Note>
      {why === 'key-only' ? <AddKey /> : null}
    </>
  );
}

/** Whoever is signed in with a session, as after each reload, gives the key for what a session is too little for. */
export function AddKey(): JSX.Element | null {
  const { busy, error, run } = useAct();
  if (credential.value?.kind !== 'session') return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const key = textIn(event.currentTarget, 'key').trim();
        void run(async () => addKey(key));
      }}
    >
      <Field label={t.addKey.label} hint={t.addKey.hint}>
        {(ids) => <input {...ids} name="key" type="password" autocomplete="off" required />}
      </Field>
      <ErrorNote error={error} />
      <Button type="submit" busy={busy}>
        {t.addKey.button}
      </Button>
    </form>
  );
}

/** Beside an error: where the node wants the key for what was sent, a way to give it. */
export function NeedsKey({ error }: { error: Refused | null }): JSX.Element | null {
  return error?.extras['required'] === 'keyonly' ? <AddKey /> : null;
}
