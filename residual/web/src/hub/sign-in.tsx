import { Drone } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refused } from '../api/client.ts';
import { textIn } from '../parts/form/form-text.ts';
import { Button, ErrorNote, Field, Icon, Note } from '../parts/parts.tsx';
import { useAct } from '../parts/use-ask.ts';
import { ended, signIn } from './client.ts';
import css from './hub.module.css';
import { hub } from './hub-words.ts';
import { answer, enter, leave, type Offered } from './provider.ts';
import { useHub } from './use-hub.ts';

/** Asks who somebody is: by the provider, where the hub has one, or by an operator's credential. */
export function SignIn(): JSX.Element {
  const text = hub.signIn;
  const { data } = useHub<Offered>('/v1/sign-in');
  const provider = data?.provider ?? null;
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
      {provider === null ? null : <AtProvider {...provider} />}
      <WithCredential isOnlyWay={provider === null} />
    </main>
  );
}

/** @param page_url where the provider sends people back to: only there can they begin */
function AtProvider({ name, page_url }: NonNullable<Offered['provider']>): JSX.Element {
  const { busy, error, run } = useAct();
  const text = hub.signIn;
  const isHere = `${location.origin}/` === page_url;
  useEffect(() => {
    if (answer !== null) void run(async () => enter(answer ?? ''));
  }, []);
  return (
    <div class={css['provider']}>
      <ErrorNote error={error} />
      {isHere ? (
        <Button kind="primary" busy={busy} onClick={() => void run(leave)}>
          {text.with({ provider: name })}
        </Button>
      ) : (
        <a class="button primary" href={page_url}>
          {text.withAt({ provider: name, host: new URL(page_url).host })}
        </a>
      )}
      <p class="hint">{text.or}</p>
    </div>
  );
}

/** The credential is tried before the page is shown. */
function WithCredential({ isOnlyWay }: { readonly isOnlyWay: boolean }): JSX.Element {
  const [keep, setKeep] = useState(false);
  const { busy, error, run } = useAct();
  const text = hub.signIn;
  const tried = async (secret: string): Promise<void> => {
    if (!secret.startsWith('svc_op_')) throw new Refused(0, 'E_INVALID_VALUE', text.unknown);
    await signIn(secret, keep ? localStorage : sessionStorage);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const secret = textIn(event.currentTarget, 'secret').trim();
        void run(async () => tried(secret));
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
            autofocus={isOnlyWay}
          />
        )}
      </Field>
      <label class="check">
        <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />{' '}
        {text.keep}
      </label>
      <p class="hint">{text.keepHint}</p>
      <ErrorNote error={error} />
      <Button type="submit" kind={isOnlyWay ? 'primary' : 'plain'} busy={busy}>
        {text.title}
      </Button>
    </form>
  );
}
