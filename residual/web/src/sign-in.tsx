import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, Refused } from './api/client.ts';
import { credential, credentialIn, hold, lose, lost } from './api/credential.ts';
import { enter, entry, info } from './api/node.ts';
import { holdKey, holdSession } from './api/sign-in.ts';
import { go } from './app/route.ts';
import { Button, Card, ErrorNote, Field, Note } from './parts/parts.tsx';
import { useAct, useAsk } from './parts/use-ask.ts';
import { t } from './strings.ts';

const PIN = /^[0-9]{4,12}$/;

/** Asks for the PIN, the pairing key or a token. */
export function SignIn(): JSX.Element {
  const pin = useAsk('dashboard.pin.status.get');
  const [keep, setKeep] = useState(false);
  const { busy, error, run } = useAct();
  const signIn = async (text: string): Promise<void> => {
    if (PIN.test(text)) {
      holdSession(await call('dashboard.pin.verify.post', { body: { pin: text } }), keep);
    } else {
      const found = credentialIn(text);
      if (found === null) throw new Refused(0, 'E_INVALID_VALUE', t.signIn.unknown);
      if (found.kind === 'key') await holdKey(found.value, keep);
      else hold(found);
    }
    await enter();
    if (entry.value.state !== 'in') lose(null);
    if (credential.value === null) throw new Refused(401, 'E_UNAUTHENTICATED', t.signIn.wrong);
  };
  return (
    <main class="sign-in" id="content">
      <Card title={t.signIn.title}>
        {lost.value === null ? null : <Note tone="warn">{t.signIn.ended}</Note>}
        {pin.data?.pin_set === false ? <Note>{t.signIn.noPin}</Note> : null}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const text = new FormData(event.currentTarget).get('secret');
            void run(async () => signIn(typeof text === 'string' ? text.trim() : ''));
          }}
        >
          <Field label={t.signIn.secret}>
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
            <input
              type="checkbox"
              checked={keep}
              onChange={(event) => setKeep(event.currentTarget.checked)}
            />{' '}
            {t.signIn.keep}
          </label>
          <p class="hint">{t.signIn.keepHint}</p>
          <ErrorNote error={error} />
          <Button type="submit" kind="primary" busy={busy}>
            {t.signIn.button}
          </Button>
        </form>
      </Card>
      {info.value?.paired === false && pin.data?.pin_set === false ? <Unpaired /> : null}
    </main>
  );
}

/** Nobody has set this node up, and from here it takes no stranger: it can be paired, or set up from near. */
function Unpaired(): JSX.Element {
  const [part, setPart] = useState<typeof import('./pages/setup/claim.tsx') | null>(null);
  useEffect(() => {
    let shown = true;
    import('./pages/setup/claim.tsx').then(
      (loaded) => shown && setPart(loaded),
      () => undefined, // the sentence says how else to go on
    );
    return () => {
      shown = false;
    };
  }, []);
  return (
    <Card title={t.setup.pairing.unpairedTitle}>
      <p>{t.setup.pairing.unpaired}</p>
      {part === null ? null : <part.Claim onClaimed={() => go('setup', 'pairing')} />}
    </Card>
  );
}
