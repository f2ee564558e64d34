import { ChevronDown, type IconNode } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './icon.tsx';

/** What is seldom needed, behind its name. */
export function Unfold({
  title,
  icon,
  open,
  onToggle,
  children,
}: {
  readonly title: ComponentChildren;
  readonly icon?: IconNode;
  readonly open?: boolean;
  readonly onToggle?: (open: boolean) => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <details
      class="unfold"
      {...(open === undefined ? {} : { open })}
      onToggle={(event) => onToggle?.(event.currentTarget.open)}
    >
      <summary>
        {icon === undefined ? null : <Icon of={icon} />}
        {title}
        <Icon of={ChevronDown} />
      </summary>
      {children}
    </details>
  );
}
