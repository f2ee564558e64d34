import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useProjection } from '../map/context.ts';
import { Marker, Vehicle } from '../map/layers.tsx';
import { Map as FieldMap } from '../map/map.tsx';
import { type View, viewOf, ZOOM } from '../map/projection.ts';
import { Button } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { type Figures, type FleetNode, figuresOf } from './fleet.ts';
import css from './hub.module.css';
import { go } from './route.ts';
import { hub } from './words.ts';

/** Nodes nearer to each other than this are drawn as one with their number: what is drawn has a bound, however many there are. */
const CELL_PX = 40;
const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };

interface Placed {
  readonly id: string;
  readonly place: NonNullable<Figures['place']>;
  readonly fresh: boolean;
}

export function FleetMap({ nodes }: { readonly nodes: readonly FleetNode[] }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View | null>(null);
  const placed = nodes.flatMap(({ entry }): Placed[] => {
    const { place, fresh } = figuresOf(entry);
    return place === null ? [] : [{ id: entry.id, place, fresh }];
  });
  const showAll = (): void => {
    const { clientWidth = 300, clientHeight = 300 } = box.current ?? {};
    setView(
      viewOf(
        placed.map(({ place }) => place),
        clientWidth,
        clientHeight,
      ),
    );
  };
  useEffect(() => {
    if (view === null && placed.length > 0) showAll();
  });
  return (
    <div class={css['fleet-map']} ref={box}>
      <FieldMap label={hub.fleet.mapLabel} view={view ?? NOWHERE} onView={setView}>
        <Nodes placed={placed} onZoom={setView} />
      </FieldMap>
      <p class="row">
        <Button why={placed.length === 0 ? hub.fleet.noPlace : null} onClick={showAll}>
          {t.plan.showAll}
        </Button>
        <span class="hint">{hub.fleet.placed(placed.length, nodes.length)}</span>
      </p>
    </div>
  );
}

function Nodes({ placed, onZoom }: { placed: readonly Placed[]; onZoom: (view: View) => void }): JSX.Element {
  const projection = useProjection();
  const cells = new Map<string, Placed[]>();
  for (const node of placed) {
    const { x, y } = projection.toScreen(node.place);
    if (!projection.holds({ x, y })) continue;
    const cell = `${Math.floor(x / CELL_PX)} ${Math.floor(y / CELL_PX)}`;
    const held = cells.get(cell);
    if (held === undefined) cells.set(cell, [node]);
    else held.push(node);
  }
  return (
    <>
      {[...cells].map(([cell, held]) => {
        const [first, second] = held;
        if (first === undefined) return null;
        const { zoom } = projection.view;
        const open = (event: Event): void => {
          event.stopPropagation();
          go('fleet', first.id);
        };
        return second === undefined ? (
          <g key={first.id} class="movable" onPointerDown={open}>
            <title>{first.id}</title>
            <Vehicle at={first.place} heading={first.place.heading} old={!first.fresh} />
          </g>
        ) : (
          <Marker
            key={cell}
            at={first.place}
            text={String(held.length)}
            kind="many"
            onChoose={() => onZoom({ ...first.place, zoom: Math.min(ZOOM.max, zoom + 2) })}
          />
        );
      })}
    </>
  );
}
