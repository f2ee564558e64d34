import type { JSX } from 'preact';
import { steady } from '../../../api/steady.ts';
import { fresh, type Telemetry } from '../../../api/telemetry.ts';
import { isShown } from '../../../map/choices.ts';
import { useProjection } from '../../../map/context.ts';
import { SHAPES } from '../../../map/craft.ts';
import { placeOf } from '../../../vehicle/vehicle-state.ts';

type Aircraft = NonNullable<Telemetry['traffic']>['vehicles'][number];

/** Older than this it is drawn pale. */
const AGEING_S = 10;
/** So near, and about as high: it matters now. */
const NEAR = { metres: 2000, height: 300 } as const;
const LEVEL_MS = 1;
const NAME_LENGTH = 10;

const around = steady(() => fresh('traffic', (body) => body.traffic?.vehicles) ?? []);
const ownHeight = steady(() => {
  const height = fresh('position', ({ position }) => position.alt_msl);
  return height === null ? null : Math.round(height);
});

/** Other aircraft that the vehicle hears: where they head, how much higher they are. */
export function TrafficLayer(): JSX.Element | null {
  const aircraft = around.value;
  if (!isShown('traffic') || aircraft.length === 0) return null;
  return <Others all={aircraft} />;
}

/** Apart, so that without other aircraft nothing is drawn anew as the vehicle climbs. */
function Others({ all }: { readonly all: readonly Aircraft[] }): JSX.Element {
  const height = ownHeight.value;
  return (
    <>
      {all.map((aircraft) => (
        <Other key={aircraft.icao} aircraft={aircraft} height={height} />
      ))}
    </>
  );
}

function Other({
  aircraft,
  height,
}: {
  readonly aircraft: Aircraft;
  readonly height: number | null;
}): JSX.Element | null {
  const projection = useProjection();
  const place = placeOf(aircraft);
  if (place === null) return null;
  const { x, y } = projection.toScreen(place);
  const { callsign, icao, alt_m: alt, heading_deg: heading, climb_mps: climb, age_s: age } = aircraft;
  const above = alt === null || height === null ? null : Math.round((alt - height) / 10) * 10;
  const way = typeof climb !== 'number' || Math.abs(climb) < LEVEL_MS ? '' : climb > 0 ? ' ↑' : ' ↓';
  const isNear =
    (aircraft.distance_m ?? Number.POSITIVE_INFINITY) < NEAR.metres && Math.abs(above ?? 0) < NEAR.height;
  const state = `${age > AGEING_S ? ' ageing' : ''}${isNear ? ' near' : ''}`;
  return (
    <g class={`marker traffic${state}`} transform={`translate(${x} ${y})`}>
      <g transform={`rotate(${(heading ?? 0) - projection.bearing}) scale(0.75)`}>
        {typeof heading === 'number' ? <path d={SHAPES.plane.body} /> : <circle r={9} />}
      </g>
      <text class="map-label" dy="26">
        {(callsign ?? icao).slice(0, NAME_LENGTH)}
      </text>
      <text class="map-label" dy="40">
        {above === null ? '' : `${above < 0 ? '−' : '+'}${Math.abs(above)} m`}
        {way}
      </text>
    </g>
  );
}
