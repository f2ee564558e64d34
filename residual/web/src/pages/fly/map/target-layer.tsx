import type { JSX } from 'preact';
import { useProjection } from '../../../map/context.ts';
import { Line, Marker } from '../../../map/layers.tsx';
import type { Place } from '../../../map/projection.ts';
import { here } from '../../../vehicle/vehicle-state.ts';
import { legText } from './lengths.ts';
import { aimAt, target } from './state.ts';

/** Where the vehicle is to go, with the way there; dragged to another place. */
export function TargetLayer(): JSX.Element | null {
  const aim = aimOf(target.value);
  if (aim === null) return null;
  const from = here.value;
  return (
    <>
      {from === null ? null : <Line places={[from, aim]} kind="aim" />}
      {from === null ? null : <PlaceLabel at={aim} text={legText(from, aim)} />}
      <Marker at={aim} text="+" kind="target" onMove={aimAt} />
    </>
  );
}

/** Null: nowhere, or what was typed is no place. */
function aimOf(typed: { readonly lat: string; readonly lon: string } | null): Place | null {
  if (typed === null || typed.lat.trim() === '' || typed.lon.trim() === '') return null;
  const aim = { lat: Number(typed.lat), lon: Number(typed.lon) };
  return Math.abs(aim.lat) <= 90 && Math.abs(aim.lon) <= 180 ? aim : null;
}

/** Words under a marker. */
export function PlaceLabel({ at, text }: { readonly at: Place; readonly text: string }): JSX.Element {
  const { x, y } = useProjection().toScreen(at);
  return (
    <text class="map-label" x={x} y={y + 30}>
      {text}
    </text>
  );
}
