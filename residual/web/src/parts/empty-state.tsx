import type { IconNode } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { Icon } from './icon.tsx';

/** What a place says that has nothing to show: what it is for, and what one can do (`children`). Without an icon within other things. */
export function EmptyState({
  icon,
  text,
  children,
}: {
  readonly icon?: IconNode;
  readonly text: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  if (icon === undefined)
    return (
      <p class="hint" data-empty>
        {text} {children}
      </p>
    );
  return (
    <div class="empty" data-empty>
      <Icon of={icon} />
      <p>{text}</p>
      {children}
    </div>
  );
}
