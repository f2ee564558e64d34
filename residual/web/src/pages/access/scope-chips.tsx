import {
  Eye,
  type IconNode,
  KeyRound,
  Navigation,
  Settings2,
  SlidersHorizontal,
  Trash2,
  Video,
} from 'lucide';
import type { JSX } from 'preact';
import type { Scope } from '../../../../../shared/auth/scopes.ts';
import { Icon } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import css from './access.module.css';

const ICONS: Readonly<Record<Scope, IconNode>> = {
  read: Eye,
  safe_write: Video,
  admin: Settings2,
  flight: Navigation,
  destructive: Trash2,
  secret_read: KeyRound,
};
/** With these a program moves the vehicle, loses data or learns secrets. */
const GRAVE: readonly Scope[] = ['flight', 'destructive', 'secret_read', 'admin'];

/** Of what a program is allowed at once (connect-client.tsx). */
export const PRESET_ICONS = {
  look: Eye,
  operate: Video,
  fly: Navigation,
  full: Settings2,
  own: SlidersHorizontal,
} as const;

/** What a program may do, each in a word; what is grave is amber. */
export function ScopeChips({ scopes }: { readonly scopes: readonly Scope[] }): JSX.Element {
  return (
    <ul class={css['chips']}>
      {scopes.map((scope) => (
        <li
          key={scope}
          class={GRAVE.includes(scope) ? css['grave'] : ''}
          title={t.access.tokens.scopes[scope]}
        >
          <Icon of={ICONS[scope]} /> {t.access.rights[scope]}
        </li>
      ))}
    </ul>
  );
}
