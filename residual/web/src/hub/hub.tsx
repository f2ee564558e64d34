import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refused } from '../api/client.ts';
import { awaySeconds } from '../api/presence.ts';
import { LanguageChoice } from '../app/language-choice.tsx';
import { MenuButton } from '../app/menu-button.tsx';
import { ThemeChoice } from '../app/theme-choice.tsx';
import { textIn } from '../parts/form-text.ts';
import { Button, Card, ErrorNote, Field, Icon, Note } from '../parts/parts.tsx';
import { Toasts } from '../parts/toast.tsx';
import { useAct } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import { Access } from './access.tsx';
import type { Me } from './answers.ts';
import { Audit } from './audit.tsx';
import { credential, ended, me, signIn, signOut } from './client.ts';
import { Enrol } from './enrol.tsx';
import { FleetPage } from './fleet-page.tsx';
import { PAGE_ICONS } from './page-icons.ts';
import { hrefOf, PAGES, place } from './route.ts';
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
      <header class="top">
        <strong>{me.value?.fleet_name ?? hub.title}</strong>
        <span class="spring" />
        <MenuButton title={t.app.menu}>
          <ThemeChoice />
          <LanguageChoice />
          {inside ? <Button onClick={() => signOut(null)}>{t.app.signOut}</Button> : null}
        </MenuButton>
      </header>
      {inside && awaySeconds.value !== null && awaySeconds.value >= 3 ? (
        <Note tone="warn">{hub.away(awaySeconds.value)}</Note>
      ) : null}
      {inside ? <Inside key={credential.value} /> : <SignIn />}
      <Toasts />
    </>
  );
}

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
      <nav class="rail" aria-label={t.app.pages}>
        {PAGES.filter(
          (id) => id === 'fleet' || id === 'wall' || me.value?.scopes.includes('admin') === true,
        ).map((id) => (
          <a key={id} href={hrefOf(id)} aria-current={id === page ? 'page' : undefined} class={`to-${id}`}>
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
    import('./node-page.tsx').then(
      ({ NodePage }) => setPage(() => NodePage),
      () => setFailed(true),
    );
  }, []);
  if (failed) return <Note tone="bad">{hub.notLoaded}</Note>;
  return Page === null ? <p class="first">{t.app.loading}</p> : <Page id={id} />;
}

/** Asks for an operator's credential, which is tried before the page is shown. */
function SignIn(): JSX.Element {
  const [keep, setKeep] = useState(false);
  const { busy, error, run } = useAct();
  const enter = async (text: string): Promise<void> => {
    if (!text.startsWith('svc_op_')) throw new Refused(0, 'E_INVALID_VALUE', hub.signIn.unknown);
    await signIn(text, keep);
  };
  return (
    <main class="sign-in" id="content" tabIndex={-1}>
      <h1 class="visually-hidden">{hub.title}</h1>
      <Card title={hub.signIn.title}>
        {ended.value ? <Note tone="warn">{hub.signIn.ended}</Note> : null}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const text = textIn(event.currentTarget, 'secret').trim();
            void run(async () => enter(text));
          }}
        >
          <Field label={hub.signIn.secret} hint={hub.signIn.hint}>
            {(ids) => (
              <input
                {...ids}
                name="secret"
                type="password"
                autocomplete="current-password"
                required
                autofocus
              />
            )}
          </Field>
          <label class="check">
            <input
              type="checkbox"
              checked={keep}
              onChange={(event) => setKeep(event.currentTarget.checked)}
            />{' '}
            {hub.signIn.keep}
          </label>
          <p class="hint">{hub.signIn.keepHint}</p>
          <ErrorNote error={error} />
          <Button type="submit" kind="primary" busy={busy}>
            {hub.signIn.title}
          </Button>
        </form>
      </Card>
    </main>
  );
}
