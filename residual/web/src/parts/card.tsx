import type { IconNode } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** A section of a page with a heading; `actions` stand beside it. */
export function Card({
  title,
  icon,
  actions,
  children,
  wide = false,
}: {
  title: string;
  icon?: IconNode;
  actions?: ComponentChildren;
  children: ComponentChildren;
  wide?: boolean;
}): JSX.Element {
  const id = useId();
  return (
    <section class={wide ? 'card wide' : 'card'} aria-labelledby={id}>
      <header>
        <h2 id={id}>
          {icon === undefined ? null : <Icon of={icon} />}
          {title}
        </h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
