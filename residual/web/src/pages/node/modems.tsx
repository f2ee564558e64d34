import { CardSim } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer, Body } from '../../api/rows.ts';
import { textIn } from '../../parts/form/form-text.ts';
import { number } from '../../parts/format.ts';
import { Badge, Button, Card, ErrorNote, Field, Note, Stat } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

type Modem = Answer<'network.modem.get'>['modems'][number];

type Settings = Body<'network.modem.put'>;

const EVERY_MS = 15_000;

/** Cellular modems; nothing where the machine has none. */
export function Modems({ onChange }: { onChange: () => void }): JSX.Element | null {
  const { data, reload } = useAsk('network.modem.get', {}, EVERY_MS);
  if (data === null || data.modems.length === 0) return null;
  const changed = (): void => {
    reload();
    onChange();
  };
  return (
    <>
      {data.modems.map((modem) => (
        <ModemCard key={modem.id} modem={modem} onChange={changed} />
      ))}
    </>
  );
}

function ModemCard({ modem, onChange }: { modem: Modem; onChange: () => void }): JSX.Element {
  const text = t.node.network.modem;
  const act = useAct();
  const [open, setOpen] = useState(false);
  const send = (body: Settings): void => {
    void act
      .run(async () => {
        await call('network.modem.put', { body });
        setOpen(false);
      })
      .then(onChange);
  };
  const on = modem.enabled === true;
  return (
    <Card title={text.title({ name: modem.model ?? modem.id })} icon={CardSim}>
      <p>
        <Badge tone={modem.state === 'connected' ? 'good' : 'info'}>{modem.state}</Badge>{' '}
        <strong>{modem.operator}</strong> {modem.roaming === true ? text.roaming : ''}
      </p>
      {modem.sim === null || modem.sim === 'ready' ? null : (
        <Note tone="warn">
          {text.sims[modem.sim]}{' '}
          {modem.sim === 'pin' && modem.pin_tries_left !== null
            ? text.simTries({ left: modem.pin_tries_left })
            : null}
        </Note>
      )}
      <dl class="stats">
        <Stat label={text.technology} value={modem.technology} />
        <Stat label={text.signal} value={unit(modem.signal_percent, '%')} />
        <Stat label="RSRP" value={unit(modem.rsrp_dbm, 'dBm')} />
        <Stat label="RSRQ" value={unit(modem.rsrq_db, 'dB')} />
        <Stat label="SINR" value={unit(modem.sinr_db, 'dB')} />
        <Stat label={text.address} value={modem.ip} />
        <Stat label={text.received} value={megabytes(modem.rx_bytes)} />
        <Stat label={text.sent} value={megabytes(modem.tx_bytes)} />
      </dl>
      {may('network.modem.put') ? (
        <div class="row">
          <Button busy={act.busy} onClick={() => send({ id: modem.id, enabled: !on })}>
            {on ? text.disconnect : text.connect}
          </Button>
          <Button aria-expanded={open} onClick={() => setOpen(!open)}>
            {text.change}
          </Button>
        </div>
      ) : null}
      {open ? (
        <ModemForm
          modem={modem}
          busy={act.busy}
          onSend={(form) => {
            const given = (name: string): string => textIn(form, name).trim();
            send({
              id: modem.id,
              enabled: true,
              allow_roaming: form.get('roaming') !== null,
              ...(given('apn') === '' ? {} : { apn: given('apn') }),
              ...(given('username') === '' ? {} : { username: given('username') }),
              ...(given('password') === '' ? {} : { password: given('password') }),
              ...(given('pin') === '' ? {} : { pin: given('pin') }),
              ...(form.get('last') === null ? {} : { last_try: true }),
            });
          }}
        />
      ) : null}
      <ErrorNote error={act.error} />
    </Card>
  );
}

function ModemForm({
  modem,
  busy,
  onSend,
}: {
  modem: Modem;
  busy: boolean;
  onSend: (form: FormData) => void;
}): JSX.Element {
  const text = t.node.network.modem;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend(new FormData(event.currentTarget));
      }}
    >
      <Field label={text.apn} hint={text.apnHint}>
        {(ids) => <input {...ids} name="apn" maxLength={64} defaultValue={modem.apn ?? ''} />}
      </Field>
      <Field label={text.username}>{(ids) => <input {...ids} name="username" maxLength={64} />}</Field>
      <Field label={text.password} hint={text.unchanged}>
        {(ids) => <input {...ids} name="password" type="password" maxLength={64} autocomplete="off" />}
      </Field>
      {modem.sim === 'pin' ? (
        <>
          <Field label={text.pin} hint={text.pinHint}>
            {(ids) => (
              <input
                {...ids}
                name="pin"
                type="password"
                inputMode="numeric"
                pattern="[0-9]{4,8}"
                autocomplete="off"
              />
            )}
          </Field>
          {modem.pin_tries_left === 1 ? (
            <label class="check">
              <input type="checkbox" name="last" /> {text.last}
            </label>
          ) : null}
        </>
      ) : null}
      <label class="check">
        <input type="checkbox" name="roaming" defaultChecked={modem.allow_roaming === true} />{' '}
        {text.allowRoaming}
      </label>
      <Button type="submit" kind="primary" busy={busy}>
        {text.apply}
      </Button>
    </form>
  );
}

function unit(value: number | null, name: string): string | null {
  return value === null ? null : `${number(value, Number.isInteger(value) ? 0 : 1)} ${name}`;
}

function megabytes(bytes: number | null): string | null {
  return bytes === null ? null : `${number(bytes / 1e6, 1)} MB`;
}
