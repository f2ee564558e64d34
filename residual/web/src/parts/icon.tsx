import type { IconNode } from 'lucide';
import type { JSX } from 'preact';
import { h } from 'preact';

/**
 * An icon of Lucide (ISC), in the colour and size of the words beside it. It says nothing to a screen reader: the name stands in words
 * or on the button.
 */
export function Icon({
  of,
  class: name = '',
}: {
  readonly of: IconNode;
  readonly class?: string;
}): JSX.Element {
  return (
    <svg class={`icon ${name}`} viewBox="0 0 24 24" aria-hidden="true">
      {of.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}
