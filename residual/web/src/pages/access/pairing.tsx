import { signal } from '@preact/signals';
import { KeyRound } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { credential, lose } from '../../api/credential.ts';
import { denied, enter, info, may } from '../../api/node.ts';
import { holdNewKey } from '../../api/sign-in.ts';
import { textIn } from '../../parts/form/form-text.ts';
import { moment } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Badge, Button, Card, Copyable, ErrorNote, Field, HoldButton, Note } from '../../parts/parts.tsx';
import { Qr } from '../../parts/qr.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';

/** The key that the node gave, once. Not of the component: with the key this page is another caller, and is built anew. Shown to its holder alone. */
const claimed = signal<string | null>(null);

const HOLD_MS = 2000;

export function Pairing(): JSX.Element {
  const text = t.access.pairing;
  const who = info.value;
  return (
    <Card title={text.title} icon={KeyRound}>
      {claimed.value === null || credential.value?.value !== claimed.value ? null : (
        <NewKey apiKey={claimed.value} />
      )}
      {who === null ? null : (
        <>
          <p>
            <Badge tone={who.paired ? 'good' : 'warn'}>{who.paired ? text.paired : text.unpaired}</Badge>{' '}
            {who.paired_at === null ? '' : moment(who.paired_at * 1000)}
          </p>
          {who.paired ? <Unpair /> : <Claim needsCode={who.code_required} />}
        </>
      )}
    </Card>
  );
}

function NewKey({ apiKey }: { apiKey: string }): JSX.Element {
  const text = t.access.pairing;
  return (
    <Note tone="warn">
      <p>
        <strong>{text.keep}</strong>
      </p>
      <Copyable label={text.key} text={apiKey} />
      <Qr text={apiKey} label={text.keyAsQr} />
      <Button kind="primary" onClick={() => (claimed.value = null)}>
        {text.kept}
      </Button>
    </Note>
  );
}

function Claim({ needsCode }: { needsCode: boolean }): JSX.Element {
  const code = useAsk('pairing.code.get').data;
  const act = useAct();
  const text = t.access.pairing;
  const closed = denied('pairing.claim.post');
  if (closed !== null) return <Note>{t.denied[closed]}</Note>;
  const claim = (form: FormData): void => {
    const given = textIn(form, 'code').trim().toUpperCase();
    void act.run(async () => {
      const { api_key: key } = await call('pairing.claim.post', {
        body: { user_id: textIn(form, 'user').trim(), ...(given === '' ? {} : { code: given }) },
      });
      claimed.value = key;
      await holdNewKey(key);
    });
  };
  return (
    <>
      <p>{text.claimHint}</p>
      {code === null ? null : (
        <p>
          {text.code} <span class={css['big-code']}>{code.code}</span>
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          claim(new FormData(event.currentTarget));
        }}
      >
        <Field label={text.user} hint={text.userHint}>
          {(ids) => <input {...ids} name="user" required maxLength={128} autocomplete="name" />}
        </Field>
        {needsCode ? (
          <Field label={text.codeField}>
            {(ids) => <input {...ids} name="code" required minLength={6} maxLength={6} autocomplete="off" />}
          </Field>
        ) : null}
        <ErrorNote error={act.error} />
        <Button type="submit" kind="primary" busy={act.busy}>
          {text.claim}
        </Button>
      </form>
    </>
  );
}

function Unpair(): JSX.Element | null {
  const act = useGuarded();
  const text = t.access.pairing;
  if (!may('pairing.unpair.post')) return <p class="hint">{text.cannotUnpair}</p>;
  const unpair = (): void => {
    void act
      .run(async (force) => call('pairing.unpair.post', { body: forced(force, {}) }))
      .then(async (done) => {
        if (!done) return;
        claimed.value = null;
        lose(null);
        await enter();
      });
  };
  return (
    <>
      <p class="hint">{text.unpairHint}</p>
      <HoldButton kind="danger" holdMs={HOLD_MS} busy={act.busy} onConfirm={unpair}>
        {text.unpair}
      </HoldButton>
      <GuardNote act={act} />
    </>
  );
}
