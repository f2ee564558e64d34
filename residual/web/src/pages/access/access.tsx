import { Bot, Boxes, type IconNode, LayoutDashboard, Lock, ScrollText, Users } from 'lucide';
import type { JSX } from 'preact';
import { go, place } from '../../app/route.ts';
import { Tabs } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import css from './access.module.css';
import { Audit } from './audit.tsx';
import { Confirm } from './confirm.tsx';
import { Fleet } from './fleet.tsx';
import { Overview } from './overview.tsx';
import { Pairing } from './pairing.tsx';
import { Pin } from './pin.tsx';
import { Secure } from './secure.tsx';
import { Sessions } from './sessions.tsx';
import { Tokens } from './tokens.tsx';

const TABS = ['overview', 'people', 'programs', 'connection', 'fleet', 'audit'] as const;
const ICONS: Readonly<Record<(typeof TABS)[number], IconNode>> = {
  overview: LayoutDashboard,
  people: Users,
  programs: Bot,
  connection: Lock,
  fleet: Boxes,
  audit: ScrollText,
};

/** Who may use this node, and what they did. */
export default function Access(): JSX.Element {
  const [tab, code] = place.value.rest;
  if (tab === 'confirm' && code !== undefined)
    return (
      <div class="page">
        <Confirm key={code} code={code} />
      </div>
    );
  const chosen = TABS.find((id) => id === tab) ?? 'overview';
  return (
    <div class={css['access']}>
      <Tabs
        label={t.access.tabs}
        tabs={TABS.map((id) => ({ id, name: t.access.tab[id], icon: ICONS[id] }))}
        chosen={chosen}
        onChoose={(id) => go('access', id)}
      />
      <div
        role="tabpanel"
        aria-label={t.access.tab[chosen]}
        class={chosen === 'overview' ? 'columns' : 'page'}
      >
        {chosen === 'overview' ? <Overview /> : null}
        {chosen === 'people' ? (
          <>
            <Pairing />
            <Pin />
            <Sessions />
          </>
        ) : null}
        {chosen === 'programs' ? <Tokens /> : null}
        {chosen === 'connection' ? <Secure /> : null}
        {chosen === 'fleet' ? <Fleet /> : null}
        {chosen === 'audit' ? <Audit /> : null}
      </div>
    </div>
  );
}
