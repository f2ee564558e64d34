import { CloudOff } from 'lucide';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { awaySeconds } from '../api/presence.ts';
import { LanguageChoice } from '../app/language-choice.tsx';
import { MenuButton } from '../app/menu-button.tsx';
import { ThemeChoice } from '../app/theme-choice.tsx';
import { Button, Icon, Note } from '../parts/parts.tsx';
import { Toasts } from '../parts/toast.tsx';
import { t } from '../strings.ts';
import { Access } from './access.tsx';
import type { Me } from './answers.ts';
import { Audit } from './audit.tsx';
import { credential, me, signOut } from './client.ts';
import { Enrol } from './enrol.tsx';
import { FleetPage } from './fleet-page.tsx';
import css from './hub.module.css';
import { PAGE_ICONS } from './page-icons.ts';
import { hrefOf, PAGES, type PageId, place } from './route.ts';
import { SignIn } from './sign-in.tsx';
import { TopCounts } from './top-counts.tsx';
import { useHub } from './use-hub.ts';
import { Wall } from './wall.tsx';
import { hub } from './words.ts';

/** The frame of the fleet's page. */
export function Hub(): JSX.Element {
  const inside = credential.value !== null;
  return (
    <>
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('content')?.focus();
        }}
      >
        {t.app.skip}
      </a>
      <header class={`top ${css['top']}`}>
        <strong>{me.value?.fleet_name ?? hub.title}</strong>
        <span class="spring" />
        {inside ? <TopCounts /> : null}
        <MenuButton title={t.app.menu}>
          <ThemeChoice />
          <LanguageChoice />
          {inside ? <Button onClick={() => signOut(null)}>{t.app.signOut}</Button> : null}
        </MenuButton>
      </header>
      {inside && awaySeconds.value !== null && awaySeconds.value >= 3 ? (
        <div class="banner warn" role="status">
          <Icon of={CloudOff} />
          {hub.away(awaySeconds.value)}
        </div>
      ) : null}
      {inside ? <Inside key={credential.value} /> : <SignIn />}
      <Toasts />
    </>
  );
}

/** Who watches needs these; the others are for who administers. */
const WATCHED: ReadonlySet<PageId> = new Set(['fleet', 'wall']);
const FIRST_OF_OFFICE = PAGES.find((id) => !WATCHED.has(id));

function Inside(): JSX.Element {
  const { page, node } = place.value;
  const { data } = useHub<Me>('/v1/me');
  useEffect(() => {
    if (data !== null) me.value = data;
  }, [data]);
  useEffect(() => {
    document.title = `${node ?? hub.page[page]} · ${me.value?.fleet_name ?? hub.title}`;
  }, [page, node, me.value]);
  return (
    <div class="inside">
      <nav class={`rail ${css['rail']}`} aria-label={t.app.pages}>
        {PAGES.filter((id) => WATCHED.has(id) || me.value?.scopes.includes('admin') === true).map((id) => (
          <a
            key={id}
            href={hrefOf(id)}
            aria-current={id === page ? 'page' : undefined}
            class={`to-${id} ${id === FIRST_OF_OFFICE ? css['office'] : ''}`}
          >
            <Icon of={PAGE_ICONS[id]} />
            {hub.page[id]}
          </a>
        ))}
      </nav>
      <main id="content" tabIndex={-1} data-page={page}>
        <h1 class="visually-hidden">{node ?? hub.page[page]}</h1>
        {page === 'fleet' ? node === null ? <FleetPage /> : <OneNode key={node} id={node} /> : null}
        {page === 'wall' ? <Wall /> : null}
        {page === 'enrol' ? <Enrol /> : null}
        {page === 'access' ? <Access /> : null}
        {page === 'audit' ? <Audit /> : null}
      </main>
    </div>
  );
}

/** Loaded when it is first opened, with all that signs and draws. */
function OneNode({ id }: { readonly id: string }): JSX.Element {
  const [Page, setPage] = useState<ComponentType<{ readonly id: string }> | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    import('./node/node-page.tsx').then(
      ({ NodePage }) => setPage(() => NodePage),
      () => setFailed(true),
    );
  }, []);
  if (failed) return <Note tone="bad">{hub.notLoaded}</Note>;
  return Page === null ? <p class="first">{t.app.loading}</p> : <Page id={id} />;
}
