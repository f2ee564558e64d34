import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { info } from '../../api/node.ts';
import { holdNewKey } from '../../api/sign-in.ts';
import { textIn } from '../../parts/form/form-text.ts';
import { Copyable, ErrorNote, Field, Note } from '../../parts/parts.tsx';
import { Qr } from '../../parts/qr.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { Primary } from './steps/primary.tsx';

/** The key of a claim that nobody has stored yet: the node shows it this once. It survives that the page is drawn anew. */
export const claimed = signal<string | null>(null);

/** Claims an unpaired node. From then on this browser speaks with the key, and after a reload with its session. */
export function Claim({ onClaimed }: { onClaimed: () => void }): JSX.Element {
  const { busy, error, run } = useAct();
  const required = info.value?.code_required === true;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const user = textIn(event.currentTarget, 'user').trim();
        const code = textIn(event.currentTarget, 'code').trim().toUpperCase();
        void run(async () => {
          const { api_key: key } = await call('pairing.claim.post', {
            body: { user_id: user, ...(code === '' ? {} : { code }) },
          });
          claimed.value = key;
          const held = holdNewKey(key);
          onClaimed();
          await held;
        });
      }}
    >
      <Field label={t.setup.pairing.user} hint={t.setup.pairing.userHint}>
        {(ids) => (
          <input
            {...ids}
            name="user"
            required
            maxLength={128}
            defaultValue={t.setup.pairing.someone}
            autocomplete="name"
          />
        )}
      </Field>
      {required ? (
        <Field label={t.setup.pairing.code} hint={t.setup.pairing.codeHint}>
          {(ids) => (
            <input
              {...ids}
              name="code"
              required
              minLength={6}
              maxLength={6}
              autocapitalize="characters"
              autocomplete="off"
              spellcheck={false}
            />
          )}
        </Field>
      ) : null}
      <ErrorNote error={error} />
      <Primary busy={busy} row="pairing.claim.post">
        {t.setup.pairing.claim}
      </Primary>
    </form>
  );
}

/** The key, until the person says that it is stored. */
export function StoreKey({ value, onStored }: { value: string; onStored: () => void }): JSX.Element {
  const [stored, setStored] = useState(false);
  useEffect(() => {
    const stay = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', stay);
    return () => removeEventListener('beforeunload', stay);
  }, []);
  return (
    <>
      <Note tone="warn">{t.setup.pairing.once}</Note>
      <Copyable label={t.setup.pairing.key} text={value} />
      <Qr text={value} label={t.setup.pairing.qr} />
      <label class="check">
        <input
          type="checkbox"
          checked={stored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />{' '}
        {t.setup.pairing.stored}
      </label>
      <Primary
        why={stored ? null : t.setup.pairing.storeFirst}
        onClick={() => {
          claimed.value = null;
          onStored();
        }}
      >
        {t.setup.next}
      </Primary>
    </>
  );
}
