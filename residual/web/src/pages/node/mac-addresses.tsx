import { Fingerprint } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import css from '../../network/node.module.css';
import { Button, Card, ErrorNote } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

/** Adapters whose address changes at each boot, or did. */
export function Adapters(): JSX.Element | null {
  const { data, reload } = useAsk('network.mac.adapters.get');
  const act = useAct();
  const text = t.node.network.mac;
  if (data === null || data.adapters.length === 0) return null;
  return (
    <Card title={text.title} icon={Fingerprint}>
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
                aria-label={text.pinOne({ name })}
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
                aria-label={text.clearOne({ name })}
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
