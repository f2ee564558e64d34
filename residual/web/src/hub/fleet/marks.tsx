import type { JSX } from 'preact';
import { useProjection } from '../../map/context.ts';
import { Marker, Vehicle } from '../../map/layers.tsx';
import { type Place, type View, ZOOM } from '../../map/projection.ts';
import { type FleetNode, figuresOf, titleOf } from './fleet.ts';
import css from './hub-fleet.module.css';
import { chosen } from './selection.ts';
import { attentionOf, phaseOf } from './state.ts';

/** Nodes on the map: one by one, or as many in one place. */

const MOST_LETTERS = 24;
/** 1.2K: there is room for four. */
const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/** A node with a place. */
export interface Placed {
  readonly id: string;
  readonly name: string;
  readonly place: Place & { readonly heading: number | null };
  readonly kind: string;
  readonly old: boolean;
  readonly matters: boolean;
}

export function placedOf(entry: FleetNode['entry']): Placed | null {
  const { place, fresh } = figuresOf(entry);
  if (place === null) return null;
  const matters = attentionOf(entry) !== null;
  return {
    id: entry.id,
    name: shortName(titleOf(entry)),
    place,
    kind: kindOf(matters, phaseOf(entry)),
    old: !fresh,
    matters,
  };
}

export function kindOf(matters: boolean, phase: ReturnType<typeof phaseOf>): string {
  return `${phase} ${matters ? css['matters'] : ''}`;
}

export function shortName(name: string): string {
  return name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS)}…` : name;
}

/** @param at where it is drawn: where it is now, if that is known by the second */
export function One({
  node,
  at,
  isNamed,
}: {
  readonly node: Placed;
  readonly at: Place;
  readonly isNamed: boolean;
}): JSX.Element {
  const { x, y } = useProjection().toScreen(at);
  const isChosen = node.id === chosen.value;
  return (
    <g
      class={`movable ${css['one']} ${node.kind} ${isChosen ? css['chosen'] : ''}`}
      onPointerDown={(event) => {
        event.stopPropagation();
        chosen.value = node.id;
      }}
    >
      <circle class={css['ring']} cx={x} cy={y} r={22} />
      <Vehicle at={at} heading={node.place.heading} old={node.old} />
      {isNamed || isChosen ? (
        <text class="map-label" x={x} y={y + 32}>
          {node.name}
        </text>
      ) : null}
    </g>
  );
}

/** So many that they are a number; to touch it is to look nearer. */
export function Many({
  at,
  count,
  matters,
  onView,
}: {
  readonly at: Place;
  readonly count: number;
  readonly matters: boolean;
  readonly onView: (view: View) => void;
}): JSX.Element {
  const { zoom } = useProjection().view;
  return (
    <Marker
      at={at}
      text={compact.format(count)}
      kind={`many ${count > 99 ? css['crowd'] : ''} ${matters ? css['matters'] : ''}`}
      onChoose={() => onView({ lat: at.lat, lon: at.lon, zoom: Math.min(ZOOM.max, zoom + 2) })}
    />
  );
}
