import { Info } from 'lucide';
import type { JSX } from 'preact';
import { info, may } from '../../api/node.ts';
import { span } from '../../parts/format.ts';
import { Card } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { Figures } from './figures.tsx';
import { Headline } from './headline.tsx';
import css from './overview.module.css';
import { Peripherals } from './peripherals.tsx';
import { Power } from './power.tsx';
import type { Status } from './problems.ts';
import { Services } from './services.tsx';

const EVERY_MS = 5000;

/** How the node is: first in a sentence, then in figures, then what it is made of. */
export function OverviewTab(): JSX.Element {
  const status = useAsk('status.get', {}, EVERY_MS);
  return (
    <div class={css['overview']}>
      <div class={css['first-rank']}>
        <Headline status={status} />
        <Figures status={status.data} />
        <Services processors={status.data?.board.cpu_cores ?? 1} />
      </div>
      <div class={css['second-rank']}>
        <About status={status.data} />
        {may('peripherals.get') ? <Peripherals /> : null}
        <Power />
      </div>
    </div>
  );
}

function About({ status }: { readonly status: Status | null }): JSX.Element {
  const text = t.node.overview;
  const who = info.value;
  const facts = [
    [text.profile, status?.profile === undefined ? null : text.profiles[status.profile]],
    [text.version, status?.version],
    [text.uptime, status === null ? null : span(status.uptime_seconds)],
    [text.vehicle, status === null ? null : controllerOf(status)],
    [text.board, status?.board.name ?? status?.board.soc],
    [text.address, who?.mdns_host],
    [text.id, who?.device_id],
  ] as const;
  return (
    <Card title={who?.name ?? text.title} icon={Info}>
      <dl class={css['facts']}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? t.app.none}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function controllerOf({
  fc_connected: connected,
  fc_link_hint: hint,
  fc_firmware: firmware,
  fc_port: port,
  fc_simulated: simulated,
}: Status): string {
  const text = t.node.overview;
  const state = connected ? text.connected : text.hint[hint ?? 'link_down'];
  return [firmware, port, simulated === true ? text.simulated : null, state].filter(Boolean).join(' · ');
}
