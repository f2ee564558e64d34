import type { JSX } from 'preact';
import { useProjection } from '../../map/context.ts';
import type { Place, View } from '../../map/projection.ts';
import type { FleetNode } from './fleet.ts';
import { FleetMap } from './fleet-map.tsx';
import { Many, One, type Placed, placedOf } from './marks.tsx';
import { chosen } from './selection.ts';

/** Nodes nearer to each other than this are drawn as one with their number: what is drawn has a bound, however many there are. */
const CELL_PX = 44;
/** With more on the screen the names would cover each other. */
const MOST_NAMES = 40;

/** The map of a fleet of which the page has all nodes. */
export function SmallMap({ nodes }: { readonly nodes: readonly FleetNode[] }): JSX.Element {
  const placed = nodes.flatMap(({ entry }) => placedOf(entry) ?? []);
  return (
    <FleetMap
      extent={placed.map(({ place }) => place)}
      told={placed.find(({ id }) => id === chosen.value)?.place ?? null}
      placed={placed.length}
      total={nodes.length}
    >
      {(live, onView) => <Nodes placed={placed} live={live} onView={onView} />}
    </FleetMap>
  );
}

function Nodes({
  placed,
  live,
  onView,
}: {
  readonly placed: readonly Placed[];
  /** Where the chosen one is now; null: not known by the second. */
  readonly live: Place | null;
  readonly onView: (view: View) => void;
}): JSX.Element {
  const projection = useProjection();
  const cells = new Map<string, Placed[]>();
  for (const node of placed) {
    const { x, y } = projection.toScreen(node.place);
    if (!projection.holds({ x, y })) continue;
    // The one that is looked at is not lost among others.
    const cell = node.id === chosen.value ? node.id : `${Math.floor(x / CELL_PX)} ${Math.floor(y / CELL_PX)}`;
    const held = cells.get(cell);
    if (held === undefined) cells.set(cell, [node]);
    else held.push(node);
  }
  return (
    <>
      {[...cells].map(([cell, held]) => {
        const [first, second] = held;
        if (first === undefined) return null;
        return second === undefined ? (
          <One
            key={first.id}
            node={first}
            at={first.id === chosen.value && live !== null ? live : first.place}
            isNamed={cells.size <= MOST_NAMES}
          />
        ) : (
          <Many
            key={cell}
            at={first.place}
            count={held.length}
            matters={held.some(({ matters }) => matters)}
            onView={onView}
          />
        );
      })}
    </>
  );
}
