import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { textIn } from '../../parts/form-text.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Badge, Button, Card, ErrorNote, Field, Note } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { HotspotForm } from './hotspot.tsx';
import { Modems } from './modems.tsx';
import css from './node.module.css';
import { Wifi } from './wifi.tsx';

type State = Answer<'network.get'>;

const EVERY_MS = 10_000;

export function NetworkTab(): JSX.Element {
  const { data, error, reload } = useAsk('network.get', {}, EVERY_MS);
  const text = t.node.network;
  return (
    <div class="page">
      <Card title={text.title} wide>
        <ErrorNote error={error} onRetry={reload} />
        {data === null ? null : <Interfaces state={data} />}
      </Card>
      {data === null ? null : (
        <>
          <Uplinks state={data} />
          <Wifi onChange={reload} />
          <Card title={text.hotspot.title}>
            <HotspotForm row="network.hotspot.put" state={data.hotspot} onChange={reload} />
          </Card>
          <Modems onChange={reload} />
          <Ethernet state={data} onChange={reload} />
        </>
      )}
      <Adapters />
    </div>
  );
}

function Interfaces({ state }: { state: State }): JSX.Element {
  const text = t.node.network;
  const [first] = state.uplinks;
  return (
    <>
      <p>{first === undefined ? text.noUplink : text.uplink(first.interface, first.gateway)}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label={text.title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text.name}</th>
              <th scope="col">{text.kind}</th>
              <th scope="col">{text.state}</th>
              <th scope="col">{text.addresses}</th>
              <th scope="col">{text.gateway}</th>
              <th scope="col">MAC</th>
            </tr>
          </thead>
          <tbody>
            {state.interfaces.map((each) => (
              <tr key={each.name}>
                <th scope="row">{each.name}</th>
                <td>{each.radio === true ? text.radioCard : each.kind}</td>
                <td>
                  <Badge tone={each.state === 'connected' ? 'good' : 'info'}>{each.state}</Badge>
                </td>
                <td>{each.addresses.join(', ') || t.app.none}</td>
                <td>{each.gateway ?? t.app.none}</td>
                <td>{each.mac ?? t.app.none}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Which uplinks there are, which one is used, and what has changed; the newest change first. */
function Uplinks({ state }: { state: State }): JSX.Element | null {
  const text = t.node.network.uplinks;
  if (state.uplinks.length === 0 && state.uplink_changes.length === 0) return null;
  return (
    <Card title={text.title}>
      <ul class={css['items']}>
        {state.uplinks.map(
          ({ interface: name, gateway, in_use: used, reachable, latency_ms: ms, metered }) => (
            <li key={name}>
              <div>
                <strong>{name}</strong> {gateway} {used ? <Badge tone="good">{text.inUse}</Badge> : null}{' '}
                {metered ? <Badge tone="info">{text.metered}</Badge> : null}
                <p class="hint">
                  {reachable === null ? text.unknown : reachable ? text.reached(ms) : text.silent}
                </p>
              </div>
            </li>
          ),
        )}
      </ul>
      {state.uplink_changes.length === 0 ? null : (
        <>
          <h3>{text.changes}</h3>
          <ul class={css['items']}>
            {state.uplink_changes.toReversed().map(({ at, from, to, reason }) => (
              <li key={at}>
                <div>
                  <strong>{text.change(from ?? text.none, to ?? text.none)}</strong>
                  <p class="hint">
                    {new Date(at).toLocaleString()}: {text.reasons[reason]}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

function Ethernet({ state, onChange }: { state: State; onChange: () => void }): JSX.Element | null {
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
      say(text.done(now.interface, now.addresses.join(', ')), 'good');
      onChange();
    });
  };
  return (
    <Card title={text.title}>
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
    </Card>
  );
}

function Adapters(): JSX.Element | null {
  const { data, reload } = useAsk('network.mac.adapters.get');
  const act = useAct();
  const text = t.node.network.mac;
  if (data === null || data.adapters.length === 0) return null;
  return (
    <Card title={text.title}>
      <p class="hint">{text.hint}</p>
      <ErrorNote error={act.error} />
      <ul class={css['items']}>
        {data.adapters.map(({ name, mac, pinned_mac: pinned, state }) => (
          <li key={name}>
            <div>
              <strong>{name}</strong> {mac}
              <p class="hint">{text.states[state]}</p>
            </div>
            {pinned === null ? (
              <Button
                row="network.mac.pin.post"
                busy={act.busy}
                aria-label={text.pinOne(name)}
                onClick={() =>
                  void act.run(async () => {
                    await call('network.mac.pin.post', { body: { iface: name } });
                    reload();
                  })
                }
              >
                {text.pin}
              </Button>
            ) : (
              <Button
                row="network.mac.iface.delete"
                busy={act.busy}
                aria-label={text.clearOne(name)}
                onClick={() =>
                  void act.run(async () => {
                    await call('network.mac.iface.delete', { params: { iface: name } });
                    reload();
                  })
                }
              >
                {text.clear}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
