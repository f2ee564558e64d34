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
      {drawingOf(of)}
    </svg>
  );
}

const drawings = new WeakMap<IconNode, readonly JSX.Element[]>();

/** Made once, of one path: a page has dozens of icons, and each of their elements is styled anew whenever a sheet opens. */
function drawingOf(icon: IconNode): readonly JSX.Element[] {
  const known = drawings.get(icon);
  if (known !== undefined) return known;
  const paths = icon.map(([tag, attributes]) => pathOf(tag, attributes));
  const drawing = paths.every((path) => path !== null)
    ? [<path key="d" d={paths.join('')} />]
    : icon.map(([tag, attributes]) => h(tag, attributes));
  drawings.set(icon, drawing);
  return drawing;
}

/** Lucide draws with lines; few shapes are filled. @returns null: a shape that is none of these, or more than a line */
function pathOf(tag: string, shape: IconNode[number][1]): string | null {
  if ('fill' in shape) return null;
  const [x, y, r] = [Number(shape['cx']), Number(shape['cy']), Number(shape['r'])];
  switch (tag) {
    case 'path':
      // One that begins with `m` counts from the corner, not from where the last one ended.
      return String(shape['d']).replace(/^m/, 'M0 0m');
    case 'circle':
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    case 'line':
      return `M${shape['x1']} ${shape['y1']}L${shape['x2']} ${shape['y2']}`;
    case 'rect':
      return roundRect(
        Number(shape['x']),
        Number(shape['y']),
        Number(shape['width']),
        Number(shape['height']),
        Number(shape['rx'] ?? shape['ry'] ?? 0),
      );
    default:
      return null;
  }
}

function roundRect(x: number, y: number, width: number, height: number, wanted: number): string {
  const r = Math.min(wanted, width / 2, height / 2);
  const corner = (dx: number, dy: number): string => `a${r} ${r} 0 0 1 ${dx} ${dy}`;
  return `M${x + r} ${y}h${width - 2 * r}${corner(r, r)}v${height - 2 * r}${corner(-r, r)}h${2 * r - width}${corner(-r, -r)}v${2 * r - height}${corner(r, -r)}Z`;
}
