import {
  ArrowLeft,
  type IconNode,
  Info,
  LayoutPanelTop,
  Power,
  ScrollText,
  Settings2,
  ShieldCheck,
  Trash2,
} from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { go, hrefOf, place } from '../../app/route.ts';
import css from '../../extensions/extensions.module.css';
import { SettingsForm } from '../../extensions/settings-form.tsx';
import { type Detailed, isOn, type Permission, toneOf, toneOfRisk } from '../../extensions/status.ts';
import { moment } from '../../parts/format.ts';
import {
  Asked,
  Badge,
  Button,
  Card,
  EmptyState,
  ErrorNote,
  HoldButton,
  Icon,
  Note,
  Tabs,
} from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { ExtensionIcon } from './extension-icon.tsx';
import { ExtensionPage } from './extension-page.tsx';
import { permissionIcon } from './permission-icon.ts';

const LOOK_MS = 3000;
const TABS = ['about', 'page', 'settings', 'logs'] as const;
type Tab = (typeof TABS)[number];
const ICONS: Readonly<Record<Tab, IconNode>> = {
  about: Info,
  page: LayoutPanelTop,
  settings: Settings2,
  logs: ScrollText,
};

/** One extension: what it is, what it may, its own page, its settings and what it says. */
export function Detail({ id }: { id: string }): JSX.Element {
  const told = useAsk('plugins.id.get', { params: { id } }, LOOK_MS);
  const { data, reload } = told;
  const manifest = data?.manifest ?? null;
  const tabs = TABS.filter(
    (tab) =>
      (tab !== 'page' || (manifest?.gcs ?? null) !== null) && (tab !== 'settings' || hasSettings(data)),
  );
  const asked = place.value.rest[1];
  const chosen = tabs.find((tab) => tab === asked) ?? 'about';
  return (
    <>
      <p>
        <a class={css['back']} href={hrefOf('extensions')}>
          <Icon of={ArrowLeft} /> {t.extensions.all}
        </a>
      </p>
      <Asked of={told} />
      {data === null ? null : (
        <>
          <h2 class="row">
            <ExtensionIcon id={id} />
            {manifest?.name ?? id} <small class="hint">{data.install.version}</small>{' '}
            <Badge tone={toneOf(data.install.status)}>{t.extensions.status[data.install.status]}</Badge>
          </h2>
          <Tabs
            label={t.extensions.parts}
            tabs={tabs.map((tab) => ({ id: tab, name: t.extensions.tab[tab], icon: ICONS[tab] }))}
            chosen={chosen}
            onChoose={(tab) => go('extensions', id, tab)}
          />
          <Chosen tab={chosen} data={data} reload={reload} />
        </>
      )}
    </>
  );
}

function Chosen({ tab, data, reload }: { tab: Tab; data: Detailed; reload: () => void }): JSX.Element {
  switch (tab) {
    case 'about':
      return <About data={data} reload={reload} />;
    case 'page':
      return <ExtensionPage data={data} />;
    case 'settings':
      return <Settings data={data} reload={reload} />;
    case 'logs':
      return <Logs id={data.install.plugin_id} />;
  }
}

function About({ data, reload }: { data: Detailed; reload: () => void }): JSX.Element {
  const { install, manifest } = data;
  const id = install.plugin_id;
  const { busy, error, run } = useAct();
  const on = isOn(install.status);
  const missing = (manifest?.permissions ?? []).filter(
    ({ id: each, required, available }) => required && available && !data.granted_capabilities.includes(each),
  );
  const act = (work: () => Promise<unknown>): void => {
    void run(work).then(reload);
  };
  return (
    <div class="page">
      <Card title={t.extensions.tab.about} icon={Info}>
        <p>{manifest?.description}</p>
        <p class="hint">
          {[id, manifest?.author, manifest?.license]
            .filter((text) => text !== undefined && text !== '')
            .join(' · ')}
        </p>
        <p class="hint">
          {t.extensions.signer({ id: install.signer_id })} ·{' '}
          {t.extensions.since({ when: moment(install.installed_at) })}
        </p>
        {install.failure_reason === null ? null : <Note tone="bad">{install.failure_reason}</Note>}
        {install.last_words.length === 0 ? null : (
          <pre class="scroll" tabIndex={0} role="region" aria-label={t.extensions.tab.logs}>
            {install.last_words.join('\n')}
          </pre>
        )}
        {install.sandbox === 'none' ? <Note tone="warn">{t.extensions.noSandbox}</Note> : null}
        <Readiness id={id} key={install.status} />
        <ErrorNote error={error} />
        <div class="row">
          {on ? (
            <Button
              icon={Power}
              row="plugins.id.disable.post"
              explain
              busy={busy}
              onClick={() => act(async () => call('plugins.id.disable.post', { params: { id }, body: {} }))}
            >
              {t.extensions.disable}
            </Button>
          ) : (
            <Button
              icon={Power}
              row="plugins.id.enable.post"
              explain
              kind="primary"
              busy={busy}
              why={missing.length === 0 ? null : t.extensions.missing({ count: missing.length })}
              onClick={() => act(async () => call('plugins.id.enable.post', { params: { id }, body: {} }))}
            >
              {t.extensions.enable}
            </Button>
          )}
          <HoldButton
            row="plugins.id.delete"
            icon={Trash2}
            kind="danger"
            busy={busy}
            onConfirm={() =>
              void run(async () => {
                await call('plugins.id.delete', { params: { id } });
                say(t.extensions.removed({ name: manifest?.name ?? id }), 'good');
                go('extensions');
              })
            }
          >
            {t.extensions.remove}
          </HoldButton>
        </div>
        <p class="hint">{t.extensions.removeHint}</p>
      </Card>
      <Card title={t.extensions.permissions} icon={ShieldCheck}>
        {(manifest?.permissions ?? []).length === 0 ? <p>{t.extensions.asksNothing}</p> : null}
        <ul class={css['permissions']}>
          {(manifest?.permissions ?? []).map((permission) => (
            <Grant
              key={permission.id}
              permission={permission}
              granted={data.granted_capabilities.includes(permission.id)}
              busy={busy}
              onChange={(give) =>
                act(async () =>
                  give
                    ? call('plugins.id.grant.post', {
                        params: { id },
                        body: { permission_id: permission.id },
                      })
                    : call('plugins.id.perms.perm.delete', { params: { id, perm: permission.id } }),
                )
              }
            />
          ))}
        </ul>
      </Card>
    </div>
  );
}

function Grant({
  permission,
  granted,
  busy,
  onChange,
}: {
  permission: Permission;
  granted: boolean;
  busy: boolean;
  onChange: (granted: boolean) => void;
}): JSX.Element {
  return (
    <li>
      <Icon of={permissionIcon(permission.category)} />
      <span>
        {t.extensions.it} {permission.label}
        {permission.required ? ` (${t.extensions.required})` : ''}
        <span class="hint"> {permission.risk_reason}</span>
      </span>
      <Badge tone={toneOfRisk(permission.risk)}>{t.extensions.risk[permission.risk]}</Badge>
      {permission.available ? (
        <Button
          row={granted ? 'plugins.id.perms.perm.delete' : 'plugins.id.grant.post'}
          busy={busy}
          aria-label={
            granted
              ? t.extensions.revokeOf({ label: permission.label })
              : t.extensions.grantOf({ label: permission.label })
          }
          onClick={() => onChange(!granted)}
        >
          {granted ? t.extensions.revoke : t.extensions.grant}
        </Button>
      ) : null}
    </li>
  );
}

function Readiness({ id }: { id: string }): JSX.Element | null {
  const { data } = useAsk('plugins.id.readiness.get', { params: { id } }, LOOK_MS);
  if (data === null || data.services.length === 0) return null;
  return (
    <ul class={css['permissions']}>
      {data.services.map(({ name, ready, reason }) => (
        <li key={name}>
          <span>{name}</span>
          <Badge tone={ready ? 'good' : 'info'}>
            {ready ? t.extensions.ready : (reason ?? t.extensions.notReady)}
          </Badge>
        </li>
      ))}
    </ul>
  );
}

function Settings({ data, reload }: { data: Detailed; reload: () => void }): JSX.Element {
  return (
    <Card title={t.extensions.tab.settings} icon={Settings2} wide>
      <SettingsForm data={data} reload={reload} />
    </Card>
  );
}

function Logs({ id }: { id: string }): JSX.Element {
  const asked = useAsk('plugins.id.logs.get', { params: { id }, query: { limit: 200 } }, LOOK_MS);
  const { data } = asked;
  return (
    <Card title={t.extensions.tab.logs} icon={ScrollText} wide>
      <Asked
        of={asked}
        empty={({ entries }) => (entries.length === 0 ? <EmptyState text={t.extensions.silent} /> : null)}
      />
      <div class={`scroll ${css['logs']}`} tabIndex={0} role="region" aria-label={t.extensions.tab.logs}>
        <table>
          <tbody>
            {(data?.entries ?? []).map(({ seq, timestamp, level, message }) => (
              <tr key={seq} class={level === 'ERROR' ? 'error' : ''}>
                <td>{moment(timestamp)}</td>
                <td>{level}</td>
                <td>{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function hasSettings(data: Detailed | null): boolean {
  return (data?.manifest?.settings ?? null) !== null;
}
