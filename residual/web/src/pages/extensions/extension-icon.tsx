import type { JSX } from 'preact';
import css from '../../extensions/extensions.module.css';

const CELLS = 5;

/** An icon of its own for each extension, made from its id: the same on every node. It says nothing to a screen reader. */
export function ExtensionIcon({ id }: { readonly id: string }): JSX.Element {
  const bits = hash(id);
  const cells = Array.from({ length: CELLS * 3 }, (_, at) => at).filter((at) => ((bits >>> at) & 1) === 1);
  return (
    <svg class={css['icon']} viewBox="0 0 7 7" aria-hidden="true" data-tone={(bits >>> 20) % 4}>
      {cells.flatMap((at) => {
        const [x, y] = [Math.floor(at / CELLS), at % CELLS];
        // Both halves are alike: that is what makes a sign of it.
        return [x, CELLS - 1 - x].map((column) => (
          <rect key={`${column} ${y}`} x={column + 1} y={y + 1} width="1.02" height="1.02" />
        ));
      })}
    </svg>
  );
}

/** FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
function hash(text: string): number {
  let value = 0x81_1c_9d_c5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x0100_0193) >>> 0;
  return value;
}
