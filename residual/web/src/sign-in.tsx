import { Bot, Drone, Hash, type IconNode, KeyRound, RadioTower } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, Refused } from './api/client.ts';
import { credential, credentialIn, hold, lose, lost } from './api/credential.ts';
import { enter, entry, info } from './api/node.ts';
import { holdKey, holdSession } from './api/sign-in.ts';
import { go } from './app/route.ts';
import { Button, ErrorNote, Field, Icon, Note, Segmented, Unfold } from './parts/parts.tsx';
import { useAct, useAsk } from './parts/use-ask.ts';
import { t } from './strings.ts';

const PIN = /^[0-9]{4,12}$/;

/** Asks for the PIN, the pairing key or a token. */
export function SignIn(): JSX.Element {
  const pin = useAsk('dashboard.pin.status.get');
  const [keep, setKeep] = useState(false);
  const [chosen, setChosen] = useState<'pin' | 'other' | null>(null);
  const { busy, error, run } = useAct();
  const text = t.signIn;
  const hasPin = pin.data?.pin_set === true;
  const way = chosen ?? (hasPin ? 'pin' : 'other');
  // Nobody has a key or a PIN of it yet: the one thing to do is to pair it.
  const isNew = info.value?.paired === false && pin.data?.pin_set !== true;
  const signIn = async (secret: string): Promise<void> => {
    if (PIN.test(secret)) {
      holdSession(await call('dashboard.pin.verify.post', { body: { pin: secret } }), keep);
    } else {
      const found = credentialIn(secret);
      if (found === null) throw new Refused(0, 'E_INVALID_VALUE', text.unknown);
      if (found.kind === 'key') await holdKey(found.value, keep);
      else hold(found);
    }
    await enter();
    if (entry.value.state !== 'in') lose(null);
    if (credential.value === null) throw new Refused(401, 'E_UNAUTHENTICATED', text.wrong);
  };
  return (
    <main class="sign-in" id="content">
      <Who isNew={isNew} />
      {lost.value === null ? null : <Note tone="warn">{text.ended}</Note>}
      {isNew ? <Unpaired /> : null}
      {pin.data?.pin_set === false && !isNew ? <Note>{text.noPin}</Note> : null}
      <Folded title={isNew ? text.otherwise : null}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const secret = new FormData(event.currentTarget).get('secret');
            void run(async () => signIn(typeof secret === 'string' ? secret.trim() : ''));
          }}
        >
          {hasPin ? (
            <Segmented
              label={text.with}
              options={[
                { id: 'pin', name: text.pin, icon: Hash },
                { id: 'other', name: text.other, icon: KeyRound },
              ]}
              chosen={way}
              onChoose={setChosen}
            />
          ) : null}
          <Field label={way === 'pin' ? text.pin : text.secret}>
            {(ids) => (
              <input
                {...ids}
                name="secret"
                class={way}
                type="password"
                inputMode={way === 'pin' ? 'numeric' : 'text'}
                autocomplete="current-password"
                required
                autofocus={!isNew}
              />
            )}
          </Field>
          <label class="check">
            <input
              type="checkbox"
              checked={keep}
              onChange={(event) => setKeep(event.currentTarget.checked)}
            />{' '}
            {text.keep}
          </label>
          <ErrorNote error={error} />
          <Button type="submit" kind="primary" busy={busy}>
            {text.button}
          </Button>
        </form>
        <Unfold title={text.help}>
          <ul class="credentials">
            <Credential icon={Hash} name={text.pin} hint={text.kinds.pin} />
            <Credential icon={KeyRound} name={text.key} hint={text.kinds.key} />
            <Credential icon={Bot} name={text.token} hint={text.kinds.token} />
          </ul>
          <p class="hint">{text.keepHint}</p>
        </Unfold>
      </Folded>
    </main>
  );
}

/** @param title null: it is not folded */
function Folded({
  title,
  children,
}: {
  readonly title: string | null;
  readonly children: ComponentChildren;
}): JSX.Element {
  return title === null ? <>{children}</> : <Unfold title={title}>{children}</Unfold>;
}

/** The node that is asked: its name, and what it is. */
function Who({ isNew }: { readonly isNew: boolean }): JSX.Element {
  const isGround = info.value?.profile === 'ground-station';
  return (
    <div class="who">
      <span>
        <Icon of={isGround ? RadioTower : Drone} />
      </span>
      <h1>{info.value?.name ?? t.signIn.title}</h1>
      {isNew ? null : <p>{isGround ? t.signIn.toGround : t.signIn.toDrone}</p>}
    </div>
  );
}

function Credential({
  icon,
  name,
  hint,
}: {
  readonly icon: IconNode;
  readonly name: string;
  readonly hint: string;
}): JSX.Element {
  return (
    <li>
      <Icon of={icon} />
      <div>
        <strong>{name}</strong>
        <p class="hint">{hint}</p>
      </div>
    </li>
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
    <section class="card" aria-labelledby="unpaired">
      <h2 id="unpaired">{t.setup.pairing.unpairedTitle}</h2>
      <p>{t.setup.pairing.unpaired}</p>
      {part === null ? null : <part.Claim onClaimed={() => go('setup', 'pairing')} />}
    </section>
  );
}
