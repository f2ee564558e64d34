import { Antenna, ArrowUp, Network } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { HotspotForm } from '../../network/hotspot.tsx';
import { NetworkError } from '../../network/network-error.tsx';
import { Asked, Button, Card, ErrorNote, Note, Stat } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './ground.module.css';

const EVERY_MS = 10_000;

/** The ground station's own network: how others reach it, and how it reaches the world. */
export function GroundNetwork(): JSX.Element {
  const asked = useAsk('ground-station.network.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const act = useAct();
  const text = t.ground.network;
  return (
    <>
      <Card title={text.title} icon={Network}>
        <NetworkError error={asked.error} onRetry={reload} />
        <Asked of={{ ...asked, error: null }} />
        {data === null ? null : (
          <>
            <dl class="stats">
              <Stat label={text.uplink} value={data.active_uplink} />
              <Stat label={text.wifi} value={data.wifi_client.ssid} />
              <Stat label={text.wired} value={data.ethernet?.ip ?? null} />
              <Stat label={text.modem} value={data.modem_4g?.ip ?? null} />
            </dl>
            {data.share_uplink ? <Note>{text.shares}</Note> : null}
            <Button
              row="ground-station.network.share-uplink.put"
              busy={act.busy}
              aria-pressed={data.share_uplink}
              onClick={() =>
                void act.run(async () => {
                  const { applied } = await call('ground-station.network.share-uplink.put', {
                    body: { enabled: !data.share_uplink },
                  });
                  if (!applied) say(text.later);
                  reload();
                })
              }
            >
              {data.share_uplink ? text.stopSharing : text.share}
            </Button>
            <Priority order={data.priority} onChange={reload} />
            <ErrorNote error={act.error} />
          </>
        )}
      </Card>
      {data === null ? null : (
        <Card title={t.node.network.hotspot.title} icon={Antenna}>
          <HotspotForm row="ground-station.network.ap.put" state={data.ap} onChange={reload} />
        </Card>
      )}
    </>
  );
}

function Priority({
  order,
  onChange,
}: {
  order: readonly string[];
  onChange: () => void;
}): JSX.Element | null {
  const act = useAct();
  const text = t.ground.network;
  if (order.length < 2) return null;
  const up = (at: number): void => {
    const next = order.toSpliced(at, 1).toSpliced(at - 1, 0, ...order.slice(at, at + 1));
    void act.run(async () => {
      await call('ground-station.network.priority.put', { body: { priority: next } });
      onChange();
    });
  };
  return (
    <>
      <h3>{text.priority}</h3>
      <ol class={css['order']}>
        {order.map((name, at) => (
          <li key={name}>
            {name}{' '}
            {at > 0 && may('ground-station.network.priority.put') ? (
              <Button
                kind="quiet"
                icon={ArrowUp}
                busy={act.busy}
                aria-label={text.upOne({ name })}
                onClick={() => up(at)}
              />
            ) : null}
          </li>
        ))}
      </ol>
      <ErrorNote error={act.error} />
    </>
  );
}
