import { Wifi as WifiIcon } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer, Body } from '../../api/rows.ts';
import css from '../../network/node.module.css';
import { textIn } from '../../parts/form/form-text.ts';
import { number } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Asked, Badge, Button, Card, Dialog, ErrorNote, Field } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

type Network = Answer<'network.client.scan.get'>['networks'][number];
/** What is joined: one that was heard, or one that does not say its name. */
type JoinChoice = Pick<Network, 'ssid' | 'security'> & { readonly ssid_hex?: string };

/** The Wi-Fi that this node joins. */
export function Wifi({ onChange }: { onChange: () => void }): JSX.Element {
  const status = useAsk('network.client.status.get');
  const saved = useAsk('network.client.configured.get');
  const [heard, setHeard] = useState<readonly Network[] | null>(null);
  const [wanted, setWanted] = useState<JoinChoice | null>(null);
  const scan = useAct();
  const act = useGuarded();
  const text = t.node.network.wifi;
  const changed = (): void => {
    status.reload();
    saved.reload();
    onChange();
  };
  const look = async (): Promise<void> => setHeard((await call('network.client.scan.get')).networks);
  return (
    <Card title={text.title} icon={WifiIcon}>
      <Asked of={status} />
      {status.data === null ? null : (
        <div class="row">
          {status.data.connected ? (
            <>
              <Badge tone="good">{text.joined({ ssid: status.data.ssid ?? t.app.none })}</Badge>
              <span>{status.data.ip ?? ''}</span>
              <Button
                row="network.client.delete"
                busy={act.busy}
                onClick={() =>
                  void act.run(async (force) => {
                    await call('network.client.delete', { query: { force: force ? 1 : null } });
                    changed();
                  })
                }
              >
                {text.leave}
              </Button>
            </>
          ) : (
            <Badge>{text.notJoined}</Badge>
          )}
          <Button row="network.client.scan.get" busy={scan.busy} onClick={() => void scan.run(look)}>
            {scan.busy ? text.scanning : text.scan}
          </Button>
          <Button row="network.client.join.put" onClick={() => setWanted({ ssid: '', security: 'hidden' })}>
            {text.hidden}
          </Button>
        </div>
      )}
      <ErrorNote error={scan.error} />
      <GuardNote act={act} />
      {heard?.length === 0 ? <p>{text.nothing}</p> : null}
      <ul class={css['items']}>
        {heard
          ?.filter(({ ssid }) => ssid !== '')
          .map((network) => (
            <li key={network.bssid}>
              <div>
                <strong>{network.ssid}</strong>
                <p class="hint">
                  {text.signal({ percent: number(network.signal), channel: number(network.channel) })} ·{' '}
                  {network.security || text.open}
                </p>
              </div>
              {network.in_use ? (
                <Badge tone="good">{text.inUse}</Badge>
              ) : (
                <Button
                  row="network.client.join.put"
                  aria-label={text.joinOne({ ssid: network.ssid })}
                  onClick={() => setWanted(network)}
                >
                  {text.join}
                </Button>
              )}
            </li>
          ))}
      </ul>
      {saved.data === null || saved.data.connections.length === 0 ? null : (
        <>
          <h3>{text.saved}</h3>
          <ul class={css['items']}>
            {saved.data.connections.map(({ name, device }) => (
              <li key={name}>
                <span>
                  {name} {device === null ? '' : `(${device})`}
                </span>
                {may('network.client.configured.name.delete') ? (
                  <Button
                    busy={act.busy}
                    aria-label={text.forgetOne({ name })}
                    onClick={() =>
                      void act.run(async () => {
                        await call('network.client.configured.name.delete', { params: { name } });
                        changed();
                      })
                    }
                  >
                    {text.forget}
                  </Button>
                ) : null}
              </li>
            ))}
          </ul>
        </>
      )}
      <Dialog
        title={wanted?.ssid === '' ? text.hidden : text.joinOne({ ssid: wanted?.ssid ?? '' })}
        open={wanted !== null}
        onClose={() => setWanted(null)}
      >
        {wanted === null ? null : (
          <Join
            wanted={wanted}
            onDone={() => {
              setWanted(null);
              changed();
            }}
          />
        )}
      </Dialog>
    </Card>
  );
}

function Join({ wanted, onDone }: { wanted: JoinChoice; onDone: () => void }): JSX.Element {
  const act = useGuarded();
  const [body, setBody] = useState<Body<'network.client.join.put'> | null>(null);
  const text = t.node.network.wifi;
  const join = (asked: NonNullable<typeof body>, stopHotspot: boolean): void => {
    setBody(asked);
    void act
      .run(async (force) => {
        const { ssid, ip } = await call('network.client.join.put', {
          body: forced(force, { ...asked, ...(stopHotspot ? { stop_hotspot: true } : {}) }),
        });
        say(text.done({ ssid, ip: ip ?? t.app.none }), 'good');
      })
      .then((done) => done && onDone());
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const passphrase = textIn(form, 'passphrase');
        join(
          {
            // By its bytes, which need not be text.
            ...(wanted.ssid_hex === undefined
              ? { ssid: textIn(form, 'ssid'), hidden: true }
              : { ssid_hex: wanted.ssid_hex }),
            ...(passphrase === '' ? {} : { passphrase }),
          },
          false,
        );
      }}
    >
      {wanted.ssid_hex === undefined ? (
        <Field label={text.name}>{(ids) => <input {...ids} name="ssid" maxLength={32} required />}</Field>
      ) : null}
      {wanted.security === '' ? null : (
        <Field label={text.passphrase} hint={text.passphraseHint}>
          {(ids) => <input {...ids} name="passphrase" type="password" autocomplete="off" />}
        </Field>
      )}
      <p class="hint">{text.joinHint}</p>
      <GuardNote act={act} />
      <div class="row">
        <Button type="submit" kind="primary" busy={act.busy}>
          {text.join}
        </Button>
        {act.error?.code === 'E_HOTSPOT_ACTIVE' && body !== null ? (
          <Button kind="danger" busy={act.busy} onClick={() => join(body, true)}>
            {text.stopHotspot}
          </Button>
        ) : null}
      </div>
    </form>
  );
}
