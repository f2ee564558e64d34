import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { Answer } from '../../api/rows.ts';
import { bytes, number, span } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Badge, Button, Card, ErrorNote, Note } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './node.module.css';

type Service = Answer<'services.get'>['services'][number];

const EVERY_MS = 3000;
const TONES = {
  running: 'good',
  starting: 'warn',
  waiting: 'warn',
  parked: 'bad',
  stopped: 'info',
} as const satisfies Record<Service['state'], string>;
const MIB = 1_048_576;
const SUPERVISOR = 'svc-supervisor';

/** The node's processes; a restart is shown with the process before and the one after. */
export function Services(): JSX.Element {
  const { data, error, reload } = useAsk('services.get', {}, EVERY_MS);
  const act = useGuarded();
  const [asked, setAsked] = useState<{ name: string; before: number | null; after: number | null } | null>(
    null,
  );
  const text = t.node.services;
  const restart = (service: Service): void => {
    const { name, pid } = service;
    setAsked(null);
    void act.run(async (force) => {
      const body = forced(force, {});
      const { pid_before: before, pid_after: after } =
        name === SUPERVISOR
          ? await call('system.restart-supervisor.post', { body })
          : await call('services.name.restart.post', { params: { name }, body });
      setAsked({ name, before: before ?? pid, after });
      reload();
    });
  };
  // Who restarts the process that answers gets no proof in the answer: the list shows the new process a moment later.
  const now = data?.services.find(({ name }) => name === asked?.name)?.pid ?? null;
  const after = asked?.after ?? (now !== asked?.before ? now : null);
  return (
    <Card title={text.title} wide>
      <ErrorNote error={error} onRetry={reload} />
      <GuardNote act={act} />
      {asked === null ? null : (
        <Note tone={after === null ? 'info' : 'good'}>
          {after === null
            ? text.restarting(asked.name)
            : text.restarted(asked.name, number(asked.before), number(after))}
        </Note>
      )}
      <ul class={css['items']}>
        {data?.services.map((service) => (
          <li key={service.name}>
            <div>
              <strong>{service.name}</strong>{' '}
              <Badge tone={TONES[service.state]}>{text.states[service.state]}</Badge>
              <p class="hint">
                {text.item(
                  span(service.uptime_seconds),
                  bytes(service.memory_mb === null ? null : service.memory_mb * MIB),
                  number(service.restarts),
                  number(service.pid),
                )}
              </p>
              {service.restart_required.length === 0 ? null : (
                <p class="hint">{text.waiting(service.restart_required.join(', '))}</p>
              )}
              <LastWords service={service} />
            </div>
            <Button
              row={
                service.name === SUPERVISOR ? 'system.restart-supervisor.post' : 'services.name.restart.post'
              }
              busy={act.busy}
              aria-label={text.restartOne(service.name)}
              onClick={() => restart(service)}
            >
              {text.restart}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function LastWords({ service }: { service: Service }): JSX.Element | null {
  if (service.last_exit === null) return null;
  return (
    <details>
      <summary>{t.node.services.ended(service.last_exit)}</summary>
      <pre>{service.last_words.join('\n')}</pre>
    </details>
  );
}
