import { Maximize } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { seenIn } from '../../../../shared/flight/seen.ts';
import { useProjection } from '../map/context.ts';
import { Marker, Vehicle } from '../map/layers.tsx';
import { Map as FieldMap } from '../map/map.tsx';
import { type View, viewOf, ZOOM } from '../map/projection.ts';
import { TrackLayer } from '../map/track-layer.tsx';
import { Button } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { type Figures, type FleetNode, figuresOf, titleOf } from './fleet.ts';
import { liveOf } from './fly/live.ts';
import css from './hub-fleet.module.css';
import { chosen, following } from './selection.ts';
import { attentionOf, phaseOf } from './state.ts';
import { useTrack } from './track.ts';
import { hub } from './words.ts';

/** Nodes nearer to each other than this are drawn as one with their number: what is drawn has a bound, however many there are. */
const CELL_PX = 44;
/** With more on the screen the names would cover each other. */
const MOST_NAMES = 40;
const MOST_LETTERS = 24;
const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };
/** So near that one sees where a drone goes. */
const NEAR_ZOOM = 16;
/** A fleet in one yard is not shown closer at first. */
const START_ZOOM = 16;

interface Placed {
  readonly id: string;
  readonly name: string;
  readonly place: NonNullable<Figures['place']>;
  readonly kind: string;
  readonly old: boolean;
  readonly matters: boolean;
}

export function FleetMap({ nodes }: { readonly nodes: readonly FleetNode[] }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View | null>(null);
  const id = chosen.value;
  const live = id === null ? null : seenIn(liveOf(id).body).place;
  const placed = nodes.flatMap(({ entry }) => {
    const one = placedOf(entry);
    return one === null ? [] : [one];
  });
  const told = placed.find((each) => each.id === id)?.place ?? null;
  const here = live ?? told;
  const track = useTrack(id, live);
  const showAll = (): void => {
    const { clientWidth = 300, clientHeight = 300 } = box.current ?? {};
    following.value = false;
    const all = viewOf(
      placed.map(({ place }) => place),
      clientWidth,
      clientHeight,
    );
    setView(all === null ? null : { ...all, zoom: Math.min(all.zoom, START_ZOOM) });
  };
  useEffect(() => {
    if (view === null && placed.length > 0) showAll();
  });
  useEffect(() => {
    if (told !== null) setView((last) => ({ ...told, zoom: Math.max(last?.zoom ?? 0, NEAR_ZOOM) }));
  }, [id]);
  const shown =
    following.value && here !== null ? { ...here, zoom: view?.zoom ?? NEAR_ZOOM } : (view ?? NOWHERE);
  return (
    <div class={css['map']} ref={box}>
      <FieldMap
        label={hub.fleet.mapLabel}
        view={shown}
        onView={(next) => {
          if (next.zoom === shown.zoom) following.value = false;
          setView(next);
        }}
        under={<TrackLayer points={track} />}
        tools={
          <Button
            icon={Maximize}
            aria-label={t.map.fit}
            why={placed.length === 0 ? hub.fleet.noPlace : null}
            onClick={showAll}
          />
        }
      >
        <Nodes placed={placed} live={live} onZoom={setView} />
      </FieldMap>
      <p class={css['placed']}>{hub.fleet.placed(placed.length, nodes.length)}</p>
    </div>
  );
}

function placedOf(entry: FleetNode['entry']): Placed | null {
  const { place, fresh } = figuresOf(entry);
  if (place === null) return null;
  const matters = attentionOf(entry) !== null;
  const name = titleOf(entry);
  return {
    id: entry.id,
    name: name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS)}…` : name,
    place,
    kind: css[matters ? 'matters' : phaseOf(entry)] ?? '',
    old: !fresh,
    matters,
  };
}

function Nodes({
  placed,
  live,
  onZoom,
}: {
  readonly placed: readonly Placed[];
  /** Where the chosen one is now; null: not known by the second. */
  readonly live: { readonly lat: number; readonly lon: number } | null;
  readonly onZoom: (view: View) => void;
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
  const isNamed = cells.size <= MOST_NAMES;
  return (
    <>
      {[...cells].map(([cell, held]) => {
        const [first, second] = held;
        if (first === undefined) return null;
        const isChosen = first.id === chosen.value;
        const at = isChosen && live !== null ? { ...first.place, ...live } : first.place;
        const { zoom } = projection.view;
        const choose = (event: Event): void => {
          event.stopPropagation();
          chosen.value = first.id;
        };
        const { x, y } = projection.toScreen(at);
        return second === undefined ? (
          <g
            key={first.id}
            class={`movable ${css['one']} ${first.kind} ${isChosen ? css['chosen'] : ''}`}
            onPointerDown={choose}
          >
            <circle class={css['ring']} cx={x} cy={y} r={22} />
            <Vehicle at={at} heading={first.place.heading} old={first.old} />
            {isNamed || isChosen ? (
              <text class="map-label" x={x} y={y + 32}>
                {first.name}
              </text>
            ) : null}
          </g>
        ) : (
          <Marker
            key={cell}
            at={first.place}
            text={String(held.length)}
            kind={`many ${held.some(({ matters }) => matters) ? css['matters'] : ''}`}
            onChoose={() => onZoom({ ...first.place, zoom: Math.min(ZOOM.max, zoom + 2) })}
          />
        );
      })}
    </>
  );
}
