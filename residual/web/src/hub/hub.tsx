import { CloudOff, Hourglass } from 'lucide';
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { awaySeconds } from '../api/presence.ts';
import { LanguageChoice } from '../app/language-choice.tsx';
import { MenuButton } from '../app/menu-button.tsx';
import { ThemeChoice } from '../app/theme-choice.tsx';
import { moment } from '../parts/format.ts';
import { Button, Icon, Note } from '../parts/parts.tsx';
import { Toasts } from '../parts/toast.tsx';
import { t } from '../strings.ts';
import type { Me } from './answers.ts';
import { credential, hubNow, leaveHub, me } from './client.ts';
import { FleetPage } from './fleet/fleet-page.tsx';
import { TopCounts } from './fleet/top-counts.tsx';
import css from './hub.module.css';
import { hub } from './hub-words.ts';
import { PAGE_ICONS } from './page-icons.ts';
import { hrefOf, PAGES, type PageId, place } from './route.ts';
import { SignIn } from './sign-in.tsx';
import { useHub } from './use-hub.ts';
import { useLoaded } from './use-loaded.ts';

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
          {inside ? <Button onClick={leaveHub}>{t.app.signOut}</Button> : null}
        </MenuButton>
      </header>
      {inside && awaySeconds.value !== null && awaySeconds.value >= 3 ? (
        <div class="banner warn" role="status">
          <Icon of={CloudOff} />
          {hub.away({ seconds: awaySeconds.value })}
        </div>
      ) : null}
      {inside && typeof me.value?.expires_at === 'number' ? <EndsSoon at={me.value.expires_at} /> : null}
      {inside ? <Inside key={credential.value} /> : <SignIn />}
      <Toasts />
    </>
  );
}

/** So early does one learn that one will have to sign in again, ms. */
const SOON_MS = 15 * 60_000;

/** A sign-in that ends does so in the middle of a flight as well. */
function EndsSoon({ at }: { readonly at: number }): JSX.Element | null {
  const [isSoon, setSoon] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSoon(true), Math.max(0, at - hubNow() - SOON_MS));
    return () => clearTimeout(timer);
  }, [at]);
  if (!isSoon) return null;
  return (
    <div class="banner warn" role="status">
      <Icon of={Hourglass} />
      {hub.signIn.endsSoon({ when: moment(at) })}
    </div>
  );
}

/** Who watches needs these; the others are for who administers. */
const WATCHED: ReadonlySet<PageId> = new Set(['fleet', 'wall', 'flights']);
const FIRST_OF_OFFICE = PAGES.find((id) => !WATCHED.has(id));

function Inside(): JSX.Element {
  const { page, node, flight } = place.value;
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
        {page !== 'fleet' ? (
          <Loaded key={page} of={page} id={flight} />
        ) : node === null ? (
          <FleetPage />
        ) : (
          <Loaded key={`node ${node}`} of="node" id={node} />
        )}
      </main>
    </div>
  );
}

/** What is loaded when it is first opened. */
const LOADERS = {
  node: async () => (await import('./node/node-page.tsx')).NodePage,
  wall: async () => (await import('./fleet/wall.tsx')).Wall,
  flights: async () => (await import('./flights/flights-page.tsx')).FlightsPage,
  enrol: async () => (await import('./office/enrol.tsx')).Enrol,
  access: async () => (await import('./office/access.tsx')).Access,
  audit: async () => (await import('./office/audit.tsx')).Audit,
} as const satisfies Record<string, () => Promise<ComponentType<{ readonly id: string }>>>;

/** @param id of the node or the flight, where it is about one */
function Loaded({ of, id = '' }: { readonly of: keyof typeof LOADERS; readonly id?: string }): JSX.Element {
  const Page = useLoaded<{ readonly id: string }>(LOADERS[of]);
  if (Page === 'failed') return <Note tone="bad">{hub.notLoaded}</Note>;
  return Page === null ? <p class="first">{t.app.loading}</p> : <Page id={id} />;
}
