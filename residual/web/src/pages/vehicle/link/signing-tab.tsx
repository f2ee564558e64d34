import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { moment, number } from '../../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../../parts/guarded.tsx';
import {
  Asked,
  Badge,
  Button,
  Card,
  Copyable,
  ErrorNote,
  Field,
  HoldButton,
  Note,
  Stat,
} from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';

const LOOK_MS = 3000;
const KEY_BYTES = 32;
const KEY = /^(?!0{64}$)[0-9a-fA-F]{64}$/;

/** Whether MAVLink frames are signed between this node and the vehicle. */
export function SigningTab(): JSX.Element {
  const capability = useAsk('mavlink.signing.capability.get', {}, LOOK_MS);
  const counters = useAsk('mavlink.signing.counters.get', {}, LOOK_MS);
  const required = useAsk('mavlink.signing.require.get', {}, LOOK_MS);
  const act = useGuarded();
  const { busy, run } = act;
  const [key, setKey] = useState('');
  const count = counters.data;
  const can = capability.data;
  const enrol = async (force: boolean): Promise<void> => {
    const { key_id: id } = await call('mavlink.signing.enroll-fc.post', {
      body: forced(force, { key_hex: key, link_id: 0 }),
    });
    say(t.vehicle.signing.enrolled({ id }), 'good');
    setKey('');
    counters.reload();
  };
  const disable = async (force: boolean): Promise<void> => {
    await call('mavlink.signing.disable-on-fc.post', { body: forced(force, {}) });
    say(t.vehicle.signing.disabled, 'good');
    counters.reload();
  };
  const require = async (wanted: boolean, force: boolean): Promise<void> => {
    await call('mavlink.signing.require.put', { body: forced(force, { require: wanted }) });
    required.reload();
  };
  const isRequired = required.data?.require ?? null;
  return (
    <div class="page">
      <Card title={t.vehicle.signing.title}>
        <p>{t.vehicle.signing.about}</p>
        <Asked of={capability} />
        <ErrorNote error={counters.error} />
        {can === null ? null : (
          <p>
            <Badge tone={can.supported ? 'good' : 'warn'}>{t.vehicle.signing.reasons[can.reason]}</Badge>{' '}
            {can.firmware_name} {can.firmware_version}
          </p>
        )}
        <dl class="stats">
          <Stat
            label={t.vehicle.signing.signs}
            value={count === null ? null : count.signing ? t.vehicle.signing.yes : t.vehicle.signing.no}
          />
          <Stat label={t.vehicle.signing.keyId} value={count?.key_id ?? null} />
          <Stat
            label={t.vehicle.signing.sent}
            value={count === null ? null : number(count.tx_signed_count)}
          />
          <Stat
            label={t.vehicle.signing.received}
            value={count === null ? null : number(count.rx_signed_count)}
          />
          <Stat
            label={t.vehicle.signing.verified}
            value={count === null ? null : number(count.rx_verified_count)}
          />
          <Stat
            label={t.vehicle.signing.bad}
            value={count === null ? null : number(count.rx_bad_signature_count)}
            tone={count !== null && count.rx_bad_signature_count > 0 ? 'bad' : undefined}
          />
        </dl>
        {count?.last_signed_rx_at == null ? null : (
          <p class="hint">{t.vehicle.signing.last({ at: moment(count.last_signed_rx_at) })}</p>
        )}
      </Card>
      <Card title={t.vehicle.signing.enrolTitle}>
        <p>{t.vehicle.signing.enrolHint}</p>
        <GuardNote act={act} />
        <Field
          label={t.vehicle.signing.key}
          error={key === '' || KEY.test(key) ? null : t.vehicle.signing.keyWrong}
        >
          {(ids) => (
            <input
              {...ids}
              value={key}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setKey(event.currentTarget.value.trim())}
            />
          )}
        </Field>
        {KEY.test(key) ? (
          <>
            <Copyable label={t.vehicle.signing.key} text={key} />
            <Note tone="warn">{t.vehicle.signing.keepKey}</Note>
          </>
        ) : null}
        <div class="row">
          <Button onClick={() => setKey(newKey())}>{t.vehicle.signing.generate}</Button>
          <HoldButton
            row="mavlink.signing.enroll-fc.post"
            busy={busy}
            why={KEY.test(key) && can?.supported === true ? null : ''}
            onConfirm={() => void run(enrol)}
          >
            {t.vehicle.signing.enrol}
          </HoldButton>
          <HoldButton
            kind="plain"
            row="mavlink.signing.disable-on-fc.post"
            busy={busy}
            onConfirm={() => void run(disable)}
          >
            {t.vehicle.signing.disable}
          </HoldButton>
        </div>
      </Card>
      <Card title={t.vehicle.signing.requireTitle}>
        <p>{t.vehicle.signing.requireHint}</p>
        {isRequired === null ? (
          <Note>{required.error?.message ?? t.vehicle.signing.requireUnknown}</Note>
        ) : (
          <>
            <p>
              <Badge tone={isRequired ? 'good' : 'info'}>
                {isRequired ? t.vehicle.signing.isRequired : t.vehicle.signing.notRequired}
              </Badge>
            </p>
            <HoldButton
              row="mavlink.signing.require.put"
              busy={busy}
              onConfirm={() => void run(async (force) => require(!isRequired, force))}
            >
              {isRequired ? t.vehicle.signing.doNotRequire : t.vehicle.signing.require}
            </HoldButton>
          </>
        )}
      </Card>
    </div>
  );
}

function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(KEY_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
