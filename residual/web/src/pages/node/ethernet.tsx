import { Cable } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import css from '../../network/node.module.css';
import { textIn } from '../../parts/form/form-text.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Badge, Button, Card, Field, Note, Unfold } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { t } from '../../strings.ts';

type State = Answer<'network.get'>;

/** The address of a wired interface. */
export function Ethernet({ state, onChange }: { state: State; onChange: () => void }): JSX.Element | null {
  const wired = state.interfaces.filter(
    ({ kind, managed, radio }) => kind === 'ethernet' && managed && radio !== true,
  );
  const [mode, setMode] = useState<'dhcp' | 'static'>('dhcp');
  const act = useGuarded();
  const text = t.node.network.ethernet;
  if (wired.length === 0 || !may('network.ethernet.put')) return null;
  const send = (form: FormData): void => {
    const given = (name: string): string => textIn(form, name).trim();
    const dns = given('dns')
      .split(/[ ,]+/)
      .filter((each) => each !== '');
    const body = {
      interface: given('interface'),
      mode,
      ...(mode === 'dhcp'
        ? {}
        : {
            address: given('address'),
            ...(given('gateway') === '' ? {} : { gateway: given('gateway') }),
            ...(dns.length === 0 ? {} : { dns }),
          }),
    };
    void act.run(async (force) => {
      const now = await call('network.ethernet.put', { body: forced(force, body) });
      say(text.done({ name: now.interface, addresses: now.addresses.join(', ') }), 'good');
      onChange();
    });
  };
  return (
    <Card title={text.title} icon={Cable}>
      <ul class={css['items']}>
        {wired.map(({ name, state: word, addresses }) => (
          <li key={name}>
            <div>
              <strong>{name}</strong> <Badge tone={word === 'connected' ? 'good' : 'info'}>{word}</Badge>
              <p class="hint">{addresses.join(', ') || t.app.none}</p>
            </div>
          </li>
        ))}
      </ul>
      <Unfold title={text.change}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            send(new FormData(event.currentTarget));
          }}
        >
          <Field label={text.interface}>
            {(ids) => (
              <select {...ids} name="interface">
                {wired.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label={text.mode}>
            {(ids) => (
              <select
                {...ids}
                value={mode}
                onChange={(event) => setMode(event.currentTarget.value === 'static' ? 'static' : 'dhcp')}
              >
                <option value="dhcp">{text.dhcp}</option>
                <option value="static">{text.static}</option>
              </select>
            )}
          </Field>
          {mode === 'dhcp' ? null : (
            <>
              <Field label={text.address} hint={text.addressHint}>
                {(ids) => <input {...ids} name="address" required placeholder="192.168.1.10/24" />}
              </Field>
              <Field label={text.gateway}>{(ids) => <input {...ids} name="gateway" />}</Field>
              <Field label={text.dns}>{(ids) => <input {...ids} name="dns" />}</Field>
            </>
          )}
          <Note tone="warn">{text.warning}</Note>
          <GuardNote act={act} />
          <Button type="submit" kind="primary" busy={act.busy}>
            {text.apply}
          </Button>
        </form>
      </Unfold>
    </Card>
  );
}
