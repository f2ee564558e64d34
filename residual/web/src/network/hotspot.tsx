import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { may } from '../api/node.ts';
import type { Answer } from '../api/rows.ts';
import { textIn } from '../parts/form/form-text.ts';
import { forced, GuardNote, useGuarded } from '../parts/guarded.tsx';
import { Badge, Button, Field, Note } from '../parts/parts.tsx';
import { t } from '../strings.ts';

type Hotspot = Answer<'network.get'>['hotspot'];

/** The node's own Wi-Fi. @param row a ground station has a row of its own */
export function HotspotForm({
  row,
  state,
  onChange,
}: {
  row: 'network.hotspot.put' | 'ground-station.network.ap.put';
  state: Hotspot;
  onChange: () => void;
}): JSX.Element {
  const act = useGuarded();
  const [open, setOpen] = useState(false);
  const text = t.node.network.hotspot;
  const send = (body: { enabled: boolean; ssid?: string; passphrase?: string; channel?: number }): void => {
    void act
      .run(async (force) => call(row, { body: row === 'network.hotspot.put' ? forced(force, body) : body }))
      .then((done) => {
        if (!done) return;
        setOpen(false);
        onChange();
      });
  };
  return (
    <>
      <p>
        <Badge tone={state.running ? 'good' : 'info'}>{state.running ? text.on : text.off}</Badge>{' '}
        <strong>{state.ssid}</strong>
        {state.running ? ` ${state.address ?? ''}` : ''}
      </p>
      {state.open === true ? <Note tone="warn">{text.isOpen}</Note> : null}
      {may(row) ? (
        <>
          <div class="row">
            <Button busy={act.busy} onClick={() => send({ enabled: !state.enabled })}>
              {state.enabled ? text.stop : text.start}
            </Button>
            <Button aria-expanded={open} onClick={() => setOpen(!open)}>
              {text.change}
            </Button>
          </div>
          {open ? (
            <form
              onSubmit={(event) => {
                event.preventDefault();
                const form = new FormData(event.currentTarget);
                const given = (name: string): string => textIn(form, name);
                send({
                  enabled: true,
                  ...(given('ssid') === '' ? {} : { ssid: given('ssid') }),
                  ...(given('passphrase') === '' ? {} : { passphrase: given('passphrase') }),
                  ...(given('channel') === '' ? {} : { channel: Number(given('channel')) }),
                });
              }}
            >
              <Field label={text.ssid}>
                {(ids) => <input {...ids} name="ssid" maxLength={32} defaultValue={state.ssid} />}
              </Field>
              <Field label={text.passphrase} hint={text.passphraseHint}>
                {(ids) => <input {...ids} name="passphrase" type="password" autocomplete="new-password" />}
              </Field>
              <Field label={text.channel}>
                {(ids) => (
                  <input
                    {...ids}
                    name="channel"
                    type="number"
                    min={1}
                    max={196}
                    defaultValue={state.channel ?? ''}
                  />
                )}
              </Field>
              <Button type="submit" kind="primary" busy={act.busy}>
                {text.apply}
              </Button>
            </form>
          ) : null}
        </>
      ) : null}
      <GuardNote act={act} />
    </>
  );
}
