import { RotateCw, Server } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { Answer } from '../../api/rows.ts';
import { wordFor } from '../../language/words.ts';
import { bytes, number, span } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Asked, Button, Card, Note, Unfold } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './overview.module.css';

export type Service = Answer<'services.get'>['services'][number];

const EVERY_MS = 3000;
const TONES = {
  running: 'good',
  starting: 'warn',
  waiting: 'warn',
  parked: 'bad',
  stopped: '',
} as const satisfies Record<Service['state'], string>;
const MIB = 1_048_576;
const SUPERVISOR = 'svc-supervisor';
// Below it a table of all of them pushes the rest of the page away: there they are folded to a line.
const ROOM = '(min-width: 701px)';

/** The node's processes; a restart is shown with the process before and the one after. @param processors of the machine */
export function Services({ processors }: { readonly processors: number }): JSX.Element {
  const listed = useAsk('services.get', {}, EVERY_MS);
  const { data, reload } = listed;
  const busyOf = useBusy(data);
  const act = useGuarded();
  const [asked, setAsked] = useState<{ name: string; before: number | null; after: number | null } | null>(
    null,
  );
  const [open, setOpen] = useState(() => matchMedia(ROOM).matches);
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
  const well = data?.services.filter(isWell) ?? [];
  const others = data?.services.filter((service) => !isWell(service)) ?? [];
  const row = (service: Service): JSX.Element => (
    <Row
      key={service.name}
      service={service}
      percent={shareOf(busyOf.get(service.pid ?? 0), processors)}
      busy={act.busy}
      onRestart={() => restart(service)}
    />
  );
  return (
    <Card title={text.title} icon={Server} wide>
      <Asked of={listed} />
      <GuardNote act={act} />
      {asked === null ? null : (
        <Note tone={after === null ? 'info' : 'good'}>
          {after === null
            ? text.restarting({ name: asked.name })
            : text.restarted({ name: asked.name, before: number(asked.before), after: number(after) })}
        </Note>
      )}
      {others.length === 0 ? null : <Table>{others.map(row)}</Table>}
      {well.length === 0 ? null : (
        <Unfold title={text.run({ count: well.length })} open={open} onToggle={setOpen}>
          <Table>{well.map(row)}</Table>
        </Unfold>
      )}
    </Card>
  );
}

function isWell({ state, restart_required: keys }: Service): boolean {
  return state === 'running' && keys.length === 0;
}

/** @param busy processors used @returns percent of the machine */
function shareOf(busy: number | undefined, processors: number): number | null {
  return busy === undefined ? null : (busy / processors) * 100;
}

/** How busy each process was between the last two looks, in processors, by its number. */
function useBusy(list: Answer<'services.get'> | null): ReadonlyMap<number, number> {
  const [shares, setShares] = useState<ReadonlyMap<number, number>>(new Map());
  const last = useRef<ReadonlyMap<number, { readonly seconds: number; readonly at: number }>>(new Map());
  useEffect(() => {
    const at = performance.now() / 1000;
    const look = (list?.services ?? []).flatMap(({ pid, cpu_seconds: seconds }) =>
      pid === null || seconds == null ? [] : [[pid, { seconds, at }] as const],
    );
    setShares(
      new Map(
        look.flatMap(([pid, { seconds }]) => {
          const before = last.current.get(pid);
          return before === undefined || at - before.at < 1
            ? []
            : [[pid, Math.max(0, seconds - before.seconds) / (at - before.at)] as const];
        }),
      ),
    );
    last.current = new Map(look);
  }, [list]);
  return shares;
}

function Table({ children }: { readonly children: readonly JSX.Element[] }): JSX.Element {
  const text = t.node.services;
  return (
    <table class={css['services']}>
      <thead>
        <tr>
          <th scope="col">{text.service}</th>
          <th scope="col" class="number">
            {text.cpu}
          </th>
          <th scope="col" class="number">
            {text.memory}
          </th>
          <th scope="col" class="number">
            {text.since}
          </th>
          <th scope="col" class="number">
            {text.restarts}
          </th>
          <th scope="col">
            <span class="visually-hidden">{text.restart}</span>
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

function Row({
  service,
  percent,
  busy,
  onRestart,
}: {
  readonly service: Service;
  readonly percent: number | null;
  readonly busy: boolean;
  readonly onRestart: () => void;
}): JSX.Element {
  const text = t.node.services;
  const { name, state, memory_mb: memory, restart_required: keys } = service;
  return (
    <tr>
      <th scope="row">
        <div class={`${css['service']} ${TONES[state]}`}>
          {wordFor(text.names, name) ?? name}
          <small>
            {name} · <span class={TONES[state] === 'bad' ? 'error' : ''}>{text.states[state]}</span>
          </small>
          {keys.length === 0 ? null : <small class="error">{text.waiting({ keys: keys.join(', ') })}</small>}
          <LastWords service={service} />
        </div>
      </th>
      <td class="number" data-name={text.cpu}>
        {percent === null ? t.app.none : `${number(percent, 1)} %`}
      </td>
      <td class="number" data-name={text.memory}>
        {bytes(memory === null ? null : Math.round(memory * MIB))}
      </td>
      <td class="number" data-name={text.since}>
        {span(service.uptime_seconds)}
      </td>
      <td class="number" data-name={text.restarts}>
        {number(service.restarts)}
      </td>
      <td>
        <Button
          row={name === SUPERVISOR ? 'system.restart-supervisor.post' : 'services.name.restart.post'}
          kind="quiet"
          icon={RotateCw}
          busy={busy}
          aria-label={text.restartOne({ name })}
          onClick={onRestart}
        />
      </td>
    </tr>
  );
}

function LastWords({ service }: { readonly service: Service }): JSX.Element | null {
  if (service.last_exit === null) return null;
  return (
    <details>
      <summary>{t.node.services.ended({ how: service.last_exit })}</summary>
      <pre>{service.last_words.join('\n')}</pre>
    </details>
  );
}
