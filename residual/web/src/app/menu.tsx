import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { credential, lose } from '../api/credential.ts';
import { entry } from '../api/node.ts';
import { relayed } from '../api/relay.ts';
import { endSession } from '../api/sign-in.ts';
import { Button } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { hrefOf, place } from './route.ts';
import { ThemeChoice } from './theme-choice.tsx';

/** What is seldom needed: how the page looks, the set-up, signing out. */
export function Menu(): JSX.Element {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (menu.current !== null) menu.current.open = false;
  }, [place.value, credential.value]);
  const onKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || menu.current?.open !== true) return;
    menu.current.open = false;
    menu.current.querySelector('summary')?.focus();
  };
  return (
    <details ref={menu} class="menu" onKeyDown={onKey}>
      <summary class="button plain">{t.app.menu}</summary>
      <div class="card">
        <ThemeChoice />
        {entry.value.state === 'in' ? (
          <a class="button plain" href={hrefOf('setup')}>
            {t.app.page.setup}
          </a>
        ) : null}
        {credential.value === null ? null : <Button onClick={() => void signOut()}>{t.app.signOut}</Button>}
      </div>
    </details>
  );
}

async function signOut(): Promise<void> {
  // Should the node not hear it, the session ends by its own time.
  await endSession().catch(() => undefined);
  lose(null);
  relayed.value = null;
}
