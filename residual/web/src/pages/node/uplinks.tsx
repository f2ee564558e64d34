import { Globe } from 'lucide';
import type { JSX } from 'preact';
import type { Answer } from '../../api/rows.ts';
import css from '../../network/node.module.css';
import { moment } from '../../parts/format.ts';
import { Badge, Card } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';

type State = Answer<'network.get'>;

/** Which uplinks there are, which one is used, and what has changed; the newest change first. */
export function Uplinks({ state }: { state: State }): JSX.Element | null {
  const text = t.node.network.uplinks;
  if (state.uplinks.length === 0 && state.uplink_changes.length === 0) return null;
  return (
    <Card title={text.title} icon={Globe}>
      <ul class={css['items']}>
        {state.uplinks.map(
          ({ interface: name, gateway, in_use: used, reachable, latency_ms: ms, metered }) => (
            <li key={name}>
              <div>
                <strong>{name}</strong> {gateway} {used ? <Badge tone="good">{text.inUse}</Badge> : null}{' '}
                {metered ? <Badge tone="info">{text.metered}</Badge> : null}
                <p class="hint">
                  {reachable === null ? text.unknown : reachable ? text.reached({ ms }) : text.silent}
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
                  <strong>{text.change({ from: from ?? text.none, to: to ?? text.none })}</strong>
                  <p class="hint">
                    {moment(at)}: {text.reasons[reason]}
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
