import type { ComponentChildren, JSX } from 'preact';
import { credential, lose } from '../api/credential.ts';
import { entry } from '../api/node.ts';
import { relayed } from '../api/relay.ts';
import { endSession } from '../api/sign-in.ts';
import { Button, Icon } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { LanguageChoice } from './language-choice.tsx';
import { PAGE_ICONS } from './page-icons.ts';
import { hrefOf, type PageId } from './route.ts';
import { ThemeChoice } from './theme-choice.tsx';

/** What is seldom needed. @param pages those that the bar has no room for */
export function Menu({
  pages,
  children,
}: {
  readonly pages: readonly PageId[];
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <>
      {entry.value.state === 'in'
        ? pages.map((id) => (
            <a key={id} class="button quiet" href={hrefOf(id)}>
              <Icon of={PAGE_ICONS[id]} /> {t.app.page[id]}
            </a>
          ))
        : null}
      <ThemeChoice />
      <LanguageChoice />
      {children}
      {credential.value === null ? null : <Button onClick={() => void signOut()}>{t.app.signOut}</Button>}
    </>
  );
}

async function signOut(): Promise<void> {
  // Should the node not hear it, the session ends by its own time.
  await endSession().catch(() => undefined);
  lose(null);
  relayed.value = null;
}
