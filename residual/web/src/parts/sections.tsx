import type { IconNode } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './icon.tsx';
import css from './sections.module.css';

/** The sections of a tab, each with an address: at the side of a wide window, a row that scrolls on a narrow one. */
export function Sections<Id extends string>({
  label,
  sections,
  chosen,
  onChoose,
  children,
}: {
  readonly label: string;
  readonly sections: readonly {
    readonly id: Id;
    readonly name: string;
    readonly icon: IconNode;
    readonly href: string;
  }[];
  readonly chosen: Id;
  /** A section was gone to, perhaps the one whose address it is already. */
  readonly onChoose?: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={css['sections']}>
      <nav aria-label={label}>
        {sections.map(({ id, name, icon, href }) => (
          <a key={id} href={href} aria-current={id === chosen ? 'page' : undefined} onClick={onChoose}>
            <Icon of={icon} />
            {name}
          </a>
        ))}
      </nav>
      <div>{children}</div>
    </div>
  );
}
