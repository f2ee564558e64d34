import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { isGround } from '../../../api/node.ts';
import { textIn } from '../../../parts/form/form-text.ts';
import { Badge, Button, Copyable, ErrorNote, Field, Note } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../setup.module.css';
import type { StepProps } from '../status.ts';
import { setConfig, useConfig } from '../use-config.ts';

const CODE = /^[A-Za-z0-9]{6}$/;
const LOOK_MS = 3000;

/** A ground station binds a drone; a drone shows whom it is bound to. */
export function RadioStep({ reload }: StepProps): JSX.Element {
  const mode = useConfig('radio', 'mode');
  const { data, error, reload: again } = useAsk('wfb.pair.get', {}, LOOK_MS);
  const { busy, error: failed, run } = useAct();
  return (
    <>
      {mode === 'off' ? (
        <>
          <p>{t.setup.radio.off}</p>
          <Button
            row="config.put"
            explain
            busy={busy}
            onClick={() => void run(async () => setConfig('radio.mode', 'managed')).then(reload)}
          >
            {t.setup.radio.on}
          </Button>
        </>
      ) : null}
      <ErrorNote error={failed ?? error} />
      <ul class={css['facts']}>
        {(data?.pairs ?? []).map(({ slot, device_id: id, name, fingerprint, proved }) => (
          <li key={slot}>
            <strong>{name === '' ? id : name}</strong>{' '}
            <Badge tone={proved ? 'good' : 'warn'}>
              {proved ? t.setup.radio.proved : t.setup.radio.unproved}
            </Badge>
            <br />
            <span class="hint">
              {t.setup.radio.fingerprint} <code>{fingerprint}</code>
            </span>
          </li>
        ))}
      </ul>
      {isGround.value ? (
        <Bind
          onBound={() => {
            again();
            reload();
          }}
        />
      ) : (
        <Note>{t.setup.radio.fromGround}</Note>
      )}
    </>
  );
}

function Bind({ onBound }: { onBound: () => void }): JSX.Element {
  const { busy, error, run } = useAct();
  const [key, setKey] = useState<string | null>(null);
  if (key !== null)
    return (
      <>
        <Note tone="warn">{t.setup.radio.droneTitle}</Note>
        <Copyable label={t.setup.radio.droneKey} text={key} />
      </>
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const host = textIn(event.currentTarget, 'host').trim();
        const secret = textIn(event.currentTarget, 'secret').trim();
        void run(async () => {
          const { device_id: id, drone_key: shown } = await call('wfb.pair.post', {
            body: {
              host,
              ...(CODE.test(secret) ? { code: secret.toUpperCase() } : { key: secret }),
            },
          });
          say(t.setup.radio.bound({ id }), 'good');
          setKey(shown ?? null);
          onBound();
        });
      }}
    >
      <Field label={t.setup.radio.host} hint={t.setup.radio.hostHint}>
        {(ids) => (
          <input {...ids} name="host" required maxLength={128} autocapitalize="off" spellcheck={false} />
        )}
      </Field>
      <Field label={t.setup.radio.secret} hint={t.setup.radio.secretHint}>
        {(ids) => <input {...ids} name="secret" type="password" required minLength={6} autocomplete="off" />}
      </Field>
      <ErrorNote error={error} />
      <Button type="submit" kind="primary" busy={busy} row="wfb.pair.post" explain>
        {t.setup.radio.bind}
      </Button>
    </form>
  );
}
