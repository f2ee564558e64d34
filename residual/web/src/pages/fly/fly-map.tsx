import { useComputed } from '@preact/signals';
import type { JSX } from 'preact';
import { useCallback, useEffect, useId, useRef, useState } from 'preact/hooks';
import { useBase } from '../../map/base.tsx';
import { Map } from '../../map/map.tsx';
import { type Place, type Projection, type View, viewOf } from '../../map/projection.ts';
import { t } from '../../strings.ts';
import { home, lastPlace } from '../../vehicle/vehicle-state.ts';
import { FlyTrack, FlyVehicle, TrackLegend } from './map/fly-vehicle.tsx';
import { LayerSheet } from './map/layer-sheet.tsx';
import { useLists } from './map/lists.ts';
import css from './map/map.module.css';
import { OperatorLayer, useOwnPlace } from './map/operator-layer.tsx';
import { FenceLayer, HomeLayer, MissionLayer, pointsOf, RallyLayer, zonesOf } from './map/plan-layers.tsx';
import { RulerBar, RulerLayer } from './map/ruler-layer.tsx';
import { aimAt, followed, following, type Insets, ruler, view } from './map/state.ts';
import { Summary } from './map/summary.tsx';
import { TargetLayer } from './map/target-layer.tsx';
import { MapTools } from './map/tools.tsx';
import { TrafficLayer } from './map/traffic-layer.tsx';

export { target } from './map/state.ts';

const START_ZOOM = 17;
const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };
const NOTHING_OVER: Insets = { top: 0, right: 0, bottom: 0, left: 0 };

/**
 * Vehicle, track, home, mission, fence and other aircraft.
 * @param large a tap on it is a place to go to, and it has its buttons
 * @param insets what lies over its edges: the vehicle is kept in what is left, the map's own buttons and words stand there
 */
export function FlyMap({
  large,
  insets = NOTHING_OVER,
}: {
  readonly large: boolean;
  readonly insets?: Insets;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const description = useId();
  const base = useBase();
  const lists = useLists();
  const [choosing, setChoosing] = useState(false);
  useOwnPlace();
  const hasPlace = useComputed(() => lastPlace.value !== null).value;
  useEffect(() => {
    const place = lastPlace.peek();
    if (place !== null && view.peek() === null) view.value = { ...place, zoom: START_ZOOM };
  }, [hasPlace, view.value === null]);
  // Another one with other insets, which wakes the map.
  const drive = useCallback(
    (shown: Projection, now: number): View | null => followed(shown, now, insets),
    [insets.top, insets.right, insets.bottom, insets.left],
  );
  const zones = zonesOf(lists.fence);
  const fit = (): void => {
    const { clientWidth: width = 300, clientHeight: height = 300 } = box.current ?? {};
    const places: readonly (Place | null)[] = [
      lastPlace.peek(),
      home.peek(),
      ...pointsOf(lists.mission).map(({ place }) => place),
      ...zones.flatMap((zone) => zone.places),
      ...lists.rally.map(({ x, y }) => ({ lat: x, lon: y })),
    ];
    const next = viewOf(
      places.filter((place) => place !== null),
      width,
      height,
    );
    if (next === null) return;
    following.value = false;
    view.value = next;
  };
  const pick = (place: Place): void => {
    if (ruler.peek() === null) aimAt(place);
    else ruler.value = [...(ruler.peek() ?? []), place];
  };
  const style = Object.fromEntries(Object.entries(insets).map(([edge, px]) => [`--map-${edge}`, `${px}px`]));
  return (
    <div class={`${css['fly-map']} ${large ? 'large' : ''}`} ref={box} style={style}>
      <Summary id={description} />
      <Map
        label={t.fly.map}
        describedBy={description}
        view={view.value ?? base.start ?? NOWHERE}
        onView={(next) => {
          view.value = next;
        }}
        onGrab={() => {
          following.value = false;
        }}
        drive={drive}
        onPick={large ? pick : undefined}
        base={base.base}
        under={<FlyTrack />}
        over={<FlyVehicle />}
        tools={large ? <MapTools onFit={fit} onLayers={() => setChoosing(true)} /> : null}
      >
        <FenceLayer zones={zones} />
        <MissionLayer items={lists.mission} />
        <RallyLayer items={lists.rally} mission={lists.mission} />
        <HomeLayer />
        <OperatorLayer />
        <TrafficLayer />
        {large ? <RulerLayer /> : null}
        <TargetLayer />
      </Map>
      {large ? <RulerBar /> : null}
      {/* Not in the map, which would take its wheel and its keys. */}
      <LayerSheet base={base} open={choosing} onClose={() => setChoosing(false)} />
      {large ? <TrackLegend /> : null}
    </div>
  );
}
