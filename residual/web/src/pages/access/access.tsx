import type { JSX } from 'preact';
import { go, place } from '../../app/route.ts';
import { Tabs } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { Audit } from './audit.tsx';
import { Fleet } from './fleet.tsx';
import { Pairing } from './pairing.tsx';
import { Pin } from './pin.tsx';
import { Secure } from './secure.tsx';
import { Sessions } from './sessions.tsx';
import { Tokens } from './tokens.tsx';

const TABS = ['people', 'programs', 'audit'] as const;

/** Who may use this node, and what they did. */
export default function Access(): JSX.Element {
  const chosen = TABS.find((id) => id === place.value.rest[0]) ?? 'people';
  return (
    <>
      <Tabs
        label={t.access.tabs}
        tabs={TABS.map((id) => ({ id, name: t.access.tab[id] }))}
        chosen={chosen}
        onChoose={(id) => go('access', id)}
      />
      <div role="tabpanel" aria-label={t.access.tab[chosen]} class="page">
        {chosen === 'people' ? (
          <>
            <Pairing />
            <Pin />
            <Secure />
            <Sessions />
            <Fleet />
          </>
        ) : null}
        {chosen === 'programs' ? <Tokens /> : null}
        {chosen === 'audit' ? <Audit /> : null}
      </div>
    </>
  );
}
