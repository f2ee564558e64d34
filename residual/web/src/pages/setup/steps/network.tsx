import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call, Refused } from '../../../api/client.ts';
import type { Answer } from '../../../api/rows.ts';
import { NetworkError } from '../../../network/network-error.tsx';
import { textIn } from '../../../parts/form/form-text.ts';
import { Badge, Button, ErrorNote, Field, Progress } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import css from '../setup.module.css';
import type { StepProps } from '../status.ts';

const LOOK_MS = 5000;
type Network = Answer<'network.client.scan.get'>['networks'][number];

export function NetworkStep({ reload }: StepProps): JSX.Element {
  const { data, error, reload: again } = useAsk('network.get', {}, LOOK_MS);
  const changed = (): void => {
    again();
    reload();
  };
  return (
    <>
      <NetworkError error={error} onRetry={again} />
      <ul class={css['facts']}>
        {(data?.interfaces ?? [])
          .filter(({ kind, radio }) => kind !== 'loopback' && radio !== true)
          .map(({ name, kind, state, addresses }) => (
            <li key={name}>
              <strong>{name}</strong> <span class="hint">{kind}</span>{' '}
              <Badge tone={state === 'connected' ? 'good' : 'info'}>{state}</Badge>
              <br />
              <span class="hint">{addresses.join(', ')}</span>
            </li>
          ))}
      </ul>
      {data === null ? null : (
        <>
          <Join hotspot={data.hotspot.running} onJoined={changed} />
          <Hotspot hotspot={data.hotspot} onChanged={changed} />
        </>
      )}
    </>
  );
}

function Join({ hotspot, onJoined }: { hotspot: boolean; onJoined: () => void }): JSX.Element {
  const [found, setFound] = useState<readonly Network[] | null>(null);
  const [chosen, setChosen] = useState<Network | null>(null);
  const scan = useAct();
  const join = useAct();
  const search = async (): Promise<void> => {
    const { networks } = await call('network.client.scan.get');
    // Each name once, by its strongest station.
    const named = networks
      .filter(({ ssid }) => ssid !== '')
      .toSorted((a, b) => (b.signal ?? 0) - (a.signal ?? 0));
    setFound([...new Map(named.toReversed().map((each) => [each.ssid_hex, each])).values()].toReversed());
  };
  return (
    <section aria-label={t.setup.network.wifi}>
      <h3>{t.setup.network.wifi}</h3>
      <Button row="network.client.scan.get" busy={scan.busy} onClick={() => void scan.run(search)}>
        {t.setup.network.scan}
      </Button>
      {scan.busy ? <Progress label={t.setup.network.scanning} value={null} /> : null}
      <ErrorNote error={scan.error} />
      {found === null ? null : found.length === 0 ? (
        <p>{t.setup.network.nothing}</p>
      ) : (
        <ul class={css['facts']}>
          {found.map((network) => (
            <li key={network.ssid_hex}>
              <Button onClick={() => setChosen(network)} aria-pressed={chosen === network}>
                {network.ssid}
              </Button>{' '}
              <span class="hint">
                {t.setup.network.heard({
                  percent: network.signal,
                  security: network.security || t.setup.network.open,
                })}
              </span>{' '}
              {network.in_use ? <Badge tone="good">{t.setup.network.joined}</Badge> : null}
            </li>
          ))}
        </ul>
      )}
      {chosen === null ? null : (
        <form
          key={chosen.ssid_hex}
          onSubmit={(event) => {
            event.preventDefault();
            const passphrase = textIn(event.currentTarget, 'passphrase');
            const stop = join.error instanceof Refused && join.error.code === 'E_HOTSPOT_ACTIVE';
            void join.run(async () => {
              const { ssid, ip } = await call('network.client.join.put', {
                body: {
                  ssid_hex: chosen.ssid_hex, // its bytes, which need not be text
                  ...(passphrase === '' ? {} : { passphrase }),
                  ...(stop ? { stop_hotspot: true } : {}),
                },
              });
              say(t.setup.network.done({ ssid, ip: ip ?? t.app.none }), 'good');
              onJoined();
            });
          }}
        >
          <Field
            label={t.setup.network.passphrase({ ssid: chosen.ssid })}
            hint={t.setup.network.passphraseHint}
          >
            {(ids) => <input {...ids} name="passphrase" type="password" autocomplete="off" />}
          </Field>
          {hotspot ? <p class="hint">{t.setup.network.losesHotspot}</p> : null}
          <ErrorNote error={join.error} />
          <Button type="submit" kind="primary" busy={join.busy} row="network.client.join.put" explain>
            {join.error?.code === 'E_HOTSPOT_ACTIVE' ? t.setup.network.joinAnyway : t.setup.network.join}
          </Button>
        </form>
      )}
    </section>
  );
}

function Hotspot({
  hotspot,
  onChanged,
}: {
  hotspot: Answer<'network.get'>['hotspot'];
  onChanged: () => void;
}): JSX.Element {
  const { busy, error, run } = useAct();
  return (
    <form
      aria-label={t.setup.network.hotspot}
      onSubmit={(event) => {
        event.preventDefault();
        const ssid = textIn(event.currentTarget, 'ssid');
        const passphrase = textIn(event.currentTarget, 'passphrase');
        void run(async () => {
          await call('network.hotspot.put', {
            body: hotspot.enabled
              ? { enabled: false }
              : {
                  enabled: true,
                  ...(ssid === '' ? {} : { ssid }),
                  ...(passphrase === '' ? {} : { passphrase }),
                },
          });
          onChanged();
        });
      }}
    >
      <h3>{t.setup.network.hotspot}</h3>
      <p>
        {hotspot.enabled
          ? t.setup.network.hotspotOn({ ssid: hotspot.ssid, address: hotspot.address ?? t.app.none })
          : hotspot.running
            ? t.setup.network.hotspotForSetup({ ssid: hotspot.ssid })
            : t.setup.network.hotspotOff}
      </p>
      {hotspot.enabled ? null : (
        <>
          <Field label={t.setup.network.ssid}>
            {(ids) => (
              <input {...ids} name="ssid" defaultValue={hotspot.ssid} maxLength={32} autocomplete="off" />
            )}
          </Field>
          <Field label={t.setup.network.hotspotPassphrase} hint={t.setup.network.hotspotHint}>
            {(ids) => (
              <input
                {...ids}
                name="passphrase"
                type="password"
                minLength={8}
                maxLength={63}
                autocomplete="new-password"
              />
            )}
          </Field>
        </>
      )}
      <ErrorNote error={error} />
      <Button type="submit" busy={busy} row="network.hotspot.put" explain>
        {hotspot.enabled ? t.setup.network.stop : t.setup.network.start}
      </Button>
    </form>
  );
}
