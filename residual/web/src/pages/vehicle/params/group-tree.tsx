import type { IconNode } from 'lucide';
import { CircleDot, Folder, ListFilter, PencilLine, Star } from 'lucide';
import type { JSX } from 'preact';
import { Icon } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { familyName, type Group, type GroupFamily } from './groups.ts';
import css from './params.module.css';

const text = t.vehicle.tree;

/** What of the parameters is shown: a choice of everything, or a group. */
export type Choice =
  | { readonly kind: 'all' | 'favourites' | 'changed' | 'staged' }
  | { readonly kind: 'group'; readonly group: string };

export interface Counts {
  readonly all: number;
  readonly favourites: number;
  readonly changed: number;
  readonly staged: number;
}

const KINDS = ['all', 'favourites', 'changed', 'staged'] as const;
const ICONS: Readonly<Record<(typeof KINDS)[number], IconNode>> = {
  all: ListFilter,
  favourites: Star,
  changed: CircleDot,
  staged: PencilLine,
};

/** The groups, those with members open below the chosen one. */
export function GroupTree({
  families,
  counts,
  choice,
  onChoose,
}: {
  readonly families: readonly GroupFamily[];
  readonly counts: Counts;
  readonly choice: Choice;
  readonly onChoose: (choice: Choice) => void;
}): JSX.Element {
  const chosen = choice.kind === 'group' ? choice.group : null;
  return (
    <nav class={css['tree']} aria-label={text.groups} tabIndex={0}>
      <ul>
        {KINDS.filter((kind) => kind !== 'staged' || counts.staged > 0).map((kind) => (
          <li key={kind}>
            <button
              type="button"
              aria-current={choice.kind === kind ? 'true' : undefined}
              onClick={() => onChoose({ kind })}
            >
              <Icon of={ICONS[kind]} />
              <span>{text[kind]}</span>
              <small>{counts[kind]}</small>
            </button>
          </li>
        ))}
      </ul>
      <ul>
        {families.map((family) => (
          <li key={family.name}>
            <Branch
              group={family}
              isChosen={chosen === family.name}
              onChoose={() => onChoose({ kind: 'group', group: family.name })}
            />
            {chosen !== null && familyName(chosen) === family.name && family.groups.length > 0 ? (
              <ul>
                {family.groups.map((group) => (
                  <li key={group.name}>
                    <Branch
                      group={group}
                      isChosen={chosen === group.name && group.name !== family.name}
                      onChoose={() => onChoose({ kind: 'group', group: group.name })}
                    />
                  </li>
                ))}
              </ul>
            ) : null}
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Branch({
  group,
  isChosen,
  onChoose,
}: {
  readonly group: Group;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}): JSX.Element {
  return (
    <button type="button" aria-current={isChosen ? 'true' : undefined} onClick={onChoose}>
      <Icon of={Folder} />
      <span>{group.name}</span>
      {group.changed > 0 ? <i class={css['dot']} aria-hidden="true" /> : null}
      <small aria-label={text.members({ count: group.count, changed: group.changed })}>{group.count}</small>
    </button>
  );
}
