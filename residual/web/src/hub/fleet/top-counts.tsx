import { Plane, TriangleAlert } from 'lucide';
import type { JSX } from 'preact';
import { countText } from '../../parts/format.ts';
import { Icon } from '../../parts/parts.tsx';
import css from '../hub.module.css';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import { type Selection, selection } from './selection.ts';
import { countsNow } from './watch-fleet.ts';

/** What flies and what needs somebody, on every page; a way to the list of just these. */
export function TopCounts(): JSX.Element | null {
  const counts = countsNow();
  if (counts === null) return null;
  const {
    attention,
    phases: { flying },
  } = counts;
  const only = (state: Selection['state']): void => {
    selection.value = { ...selection.value, search: '', state };
  };
  return (
    <div class={css['counts']}>
      {attention === 0 ? null : (
        <a class={css['matter']} href={hrefOf('fleet')} onClick={() => only('attention')}>
          <Icon of={TriangleAlert} />
          <b>{countText(attention)}</b> <span>{hub.fleet.attention({ count: attention })}</span>
        </a>
      )}
      {flying === 0 ? null : (
        <a href={hrefOf('fleet')} onClick={() => only('armed')}>
          <Icon of={Plane} />
          <b>{countText(flying)}</b> <span>{hub.fleet.flying}</span>
        </a>
      )}
    </div>
  );
}
