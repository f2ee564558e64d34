import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { info, may } from '../../api/node.ts';
import { number, span } from '../../parts/format.ts';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Badge, Button, Card, ErrorNote, HoldButton, Note, Stat } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { Peripherals } from './peripherals.tsx';
import { Services } from './services.tsx';

const EVERY_MS = 5000;
const HOLD_MS = 2000;

export function OverviewTab(): JSX.Element {
  return (
    <div class="page">
      <Health />
      <Problems />
      <Services />
      {may('peripherals.get') ? <Peripherals /> : null}
      <Power />
    </div>
  );
}

function Health(): JSX.Element {
  const { data, error, reload } = useAsk('status.get', {}, EVERY_MS);
  const text = t.node.overview;
  const who = info.value;
  return (
    <Card title={text.title}>
      <ErrorNote error={error} onRetry={reload} />
      <dl class="stats">
        <Stat label={text.name} value={who?.name ?? null} />
        <Stat label={text.version} value={data?.version ?? null} />
        <Stat label={text.profile} value={data?.profile === undefined ? null : text.profiles[data.profile]} />
        <Stat label={text.uptime} value={data === null ? null : span(data.uptime_seconds)} />
        <Stat
          label={text.cpu}
          value={known(data?.health.cpu_percent)}
          unit="%"
          tone={full(data?.health.cpu_percent)}
        />
        <Stat
          label={text.memory}
          value={known(data?.health.memory_percent)}
          unit="%"
          tone={full(data?.health.memory_percent)}
        />
        <Stat
          label={text.disk}
          value={known(data?.health.disk_percent)}
          unit="%"
          tone={full(data?.health.disk_percent)}
        />
        <Stat label={text.temperature} value={known(data?.health.temperature)} unit="°C" />
      </dl>
      <p class="hint">
        {text.ids(
          who?.device_id ?? t.app.none,
          who?.mdns_host ?? t.app.none,
          data?.board.name ?? data?.board.soc ?? t.app.none,
        )}
      </p>
      {data === null ? null : (
        <>
          <h3>{text.vehicle}</h3>
          <p>
            {data.fc_connected ? (
              <Badge tone="good">{text.connected}</Badge>
            ) : (
              <Badge tone="warn">{text.hint[data.fc_link_hint ?? 'link_down']}</Badge>
            )}{' '}
            {data.fc_firmware ?? ''} {data.fc_port ?? ''} {data.fc_simulated === true ? text.simulated : ''}
          </p>
        </>
      )}
    </Card>
  );
}

function known(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : number(value);
}

function full(percent: number | null | undefined): 'warn' | 'bad' | undefined {
  if (percent === null || percent === undefined || percent < 85) return undefined;
  return percent < 95 ? 'warn' : 'bad';
}

function Problems(): JSX.Element {
  const { data, error, reload } = useAsk('diagnostics.get');
  const status = useAsk('status.get', {}, EVERY_MS).data;
  const text = t.node.overview;
  const audit = [data?.audit.problem, data?.audit.broken].flatMap((each) => each ?? []);
  const problems = [
    ...new Set([
      ...(status?.config?.problem == null ? [] : [status.config.problem]),
      ...(status?.link_problems ?? []).map(({ detail }) => detail),
      ...(data?.problems ?? []),
      ...audit,
    ]),
  ];
  return (
    <Card title={text.problems} actions={<Button onClick={reload}>{text.look}</Button>}>
      <ErrorNote error={error} />
      {data === null && status === null && error === null ? <p>{t.app.loading}</p> : null}
      {problems.map((problem) => (
        <Note key={problem} tone="warn">
          {problem}
        </Note>
      ))}
      {data !== null && problems.length === 0 ? <Note tone="good">{text.noProblems}</Note> : null}
    </Card>
  );
}

function Power(): JSX.Element {
  const act = useGuarded();
  const text = t.node.power;
  const ask = (id: 'system.reboot.post' | 'system.shutdown.post', done: string): void => {
    void act.run(async (force) => {
      await call(id, { body: forced(force, {}) });
      say(done, 'warn');
    });
  };
  return (
    <Card title={text.title}>
      <p class="hint">{text.hint}</p>
      <div class="row">
        <HoldButton
          row="system.reboot.post"
          kind="plain"
          holdMs={HOLD_MS}
          busy={act.busy}
          onConfirm={() => ask('system.reboot.post', text.rebooting)}
        >
          {text.reboot}
        </HoldButton>
        <HoldButton
          row="system.shutdown.post"
          kind="danger"
          holdMs={HOLD_MS}
          busy={act.busy}
          onConfirm={() => ask('system.shutdown.post', text.stopping)}
        >
          {text.shutdown}
        </HoldButton>
      </div>
      <GuardNote act={act} />
    </Card>
  );
}
