import { Ellipsis } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isGround } from '../api/node.ts';
import { Dialog, Icon } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { Menu } from './menu.tsx';
import { PAGE_ICONS } from './page-icons.ts';
import { hrefOf, PAGES, type PageId, place } from './route.ts';

// Where there is room for five only, these stand behind "More".
const SELDOM: ReadonlySet<PageId> = new Set(['extensions', 'access', 'ground']);

/** Where one can go: a rail at the side, or a bar below on a phone. */
export function Rail(): JSX.Element {
  const { page } = place.value;
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.value]);
  const pages = PAGES.filter((id) => id !== 'setup' && (id !== 'ground' || isGround.value));
  return (
    <>
      <nav class="rail" aria-label={t.app.pages}>
        {pages.map((id) => (
          <a
            key={id}
            href={hrefOf(id)}
            aria-current={id === page ? 'page' : undefined}
            class={`to-${id}${SELDOM.has(id) ? ' seldom' : ''}`}
          >
            <Icon of={PAGE_ICONS[id]} />
            {t.app.page[id]}
          </a>
        ))}
        <button type="button" class="more" aria-haspopup="dialog" onClick={() => setOpen(true)}>
          <Icon of={Ellipsis} />
          {t.app.menu}
        </button>
      </nav>
      <Dialog sheet title={t.app.menu} open={open} onClose={() => setOpen(false)}>
        <div class="menu-list">
          <Menu pages={[...pages.filter((id) => SELDOM.has(id)), 'setup']} />
        </div>
      </Dialog>
    </>
  );
}
