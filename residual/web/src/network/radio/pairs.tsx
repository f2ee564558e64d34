import { Link2, Plus } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { isGround, may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { textIn } from '../../parts/form/form-text.ts';
import { moment } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import {
  Asked,
  Badge,
  Button,
  Card,
  Copyable,
  Dialog,
  Field,
  HoldButton,
  Note,
  Unfold,
} from '../../parts/parts.tsx';
import { Qr } from '../../parts/qr.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from '../node.module.css';

const EVERY_MS = 5000;
const HOLD_MS = 2000;
const CODE = /^[A-Z2-9]{6}$/;

/** The radios that are bound to this one. Both ends show one fingerprint. */
export function Pairs(): JSX.Element {
  const asked = useAsk('wfb.pair.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const [shown, setShown] = useState<string | null>(null);
  const act = useGuarded();
  const text = t.node.radio.pairs;
  return (
    <Card title={text.title} icon={Link2}>
      <Asked of={asked} />
      {data?.pairs.length === 0 ? <p>{text.none}</p> : null}
      <ul class={css['items']}>
        {data?.pairs.map(({ slot, device_id: id, name, fingerprint, paired_at: at, proved }) => (
          <li key={id}>
            <div>
              <strong>{name || id}</strong>{' '}
              <Badge tone={proved ? 'good' : 'warn'}>{proved ? text.proved : text.unproved}</Badge>
              <p class="hint">
                {text.item({ id, slot })} · {moment(at)}
              </p>
              <code class={css['fingerprint']}>{fingerprint}</code>
            </div>
            <div class="row">
              <Button aria-label={text.qrOf({ name: name || id })} onClick={() => setShown(fingerprint)}>
                {text.qr}
              </Button>
              {may('wfb.pair.delete') ? (
                <HoldButton
                  kind="danger"
                  holdMs={HOLD_MS}
                  busy={act.busy}
                  label={text.unbindOne({ name: name || id })}
                  onConfirm={() =>
                    void act.run(async (force) => {
                      await call('wfb.pair.delete', { query: { device_id: id, force: force ? 1 : null } });
                      reload();
                    })
                  }
                >
                  {text.unbind}
                </HoldButton>
              ) : null}
            </div>
          </li>
        ))}
      </ul>
      <GuardNote act={act} />
      {isGround.value ? <Bind onDone={reload} /> : <p class="hint">{text.fromGround}</p>}
      <Dialog title={text.fingerprint} open={shown !== null} onClose={() => setShown(null)}>
        <p>{text.compare}</p>
        <code class={css['fingerprint']}>{shown}</code>
        {shown === null ? null : <Qr text={shown} label={text.fingerprint} />}
      </Dialog>
    </Card>
  );
}

function Bind({ onDone }: { onDone: () => void }): JSX.Element | null {
  const act = useGuarded();
  const [bound, setBound] = useState<Answer<'wfb.pair.post'> | null>(null);
  const text = t.node.radio.pairs;
  if (!may('wfb.pair.post')) return <p class="hint">{text.notHere}</p>;
  return (
    <Unfold title={text.bind} icon={Plus}>
      <p class="hint">{text.bindHint}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const secret = textIn(form, 'secret').trim();
          const body = {
            host: textIn(form, 'host').trim(),
            slot: Number(form.get('slot')),
            ...(CODE.test(secret.toUpperCase()) ? { code: secret.toUpperCase() } : { key: secret }),
          };
          void act.run(async (force) => {
            setBound(await call('wfb.pair.post', { body: forced(force, body) }));
            onDone();
          });
        }}
      >
        <Field label={text.host} hint={text.hostHint}>
          {(ids) => <input {...ids} name="host" required maxLength={128} />}
        </Field>
        <Field label={text.secret} hint={text.secretHint}>
          {(ids) => <input {...ids} name="secret" type="password" autocomplete="off" required />}
        </Field>
        <Field label={text.slot} hint={text.slotHint}>
          {(ids) => <input {...ids} name="slot" type="number" min={0} max={7} defaultValue={0} />}
        </Field>
        <GuardNote act={act} />
        <Button type="submit" kind="primary" busy={act.busy}>
          {text.bindNow}
        </Button>
      </form>
      {bound === null ? null : (
        <Note tone={bound.proved ? 'good' : 'info'}>
          <p>{text.bound({ id: bound.device_id })}</p>
          <code class={css['fingerprint']}>{bound.fingerprint}</code>
          {bound.drone_key === undefined ? null : (
            <>
              <p>{text.droneKey}</p>
              <Copyable label={text.droneKeyLabel} text={bound.drone_key} />
            </>
          )}
        </Note>
      )}
    </Unfold>
  );
}
