import { Maximize } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { seenIn } from '../../../../../shared/flight/seen.ts';
import { Map as FieldMap } from '../../map/map.tsx';
import { type Place, type View, viewOf } from '../../map/projection.ts';
import { TrackLayer } from '../../map/track-layer.tsx';
import { countText } from '../../parts/format.ts';
import { Button } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { liveOf } from '../fly/live.ts';
import { useGround } from '../ground.tsx';
import { hub } from '../hub-words.ts';
import css from './hub-fleet.module.css';
import { chosen, following } from './selection.ts';
import { useTrack } from './track.ts';

const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };
/** So near that one sees where a drone goes. */
const NEAR_ZOOM = 16;
/** A fleet in one yard is not shown closer at first. */
const START_ZOOM = 16;

/** What is drawn on the map of the fleet is its child, which is given where the chosen one is now, and what changes the view. */
export type Marks = (live: Place | null, onView: (view: View) => void) => ComponentChildren;

/** The map, which shows all at first, and then goes to the chosen one, or with it. */
export function FleetMap({
  extent,
  told,
  placed,
  total,
  children,
}: {
  /** Between these lies all. */
  readonly extent: readonly Place[];
  /** Where the chosen one is, by its newest status. */
  readonly told: Place | null;
  /** How many have a place, of how many. */
  readonly placed: number;
  readonly total: number;
  readonly children: Marks;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const ground = useGround();
  const [view, setView] = useState<View | null>(null);
  const id = chosen.value;
  const live = id === null ? null : seenIn(liveOf(id).body).place;
  const here = live ?? told;
  const track = useTrack(id, live);
  const went = useRef<string | null>(null);
  const showAll = (): void => {
    const { clientWidth = 300, clientHeight = 300 } = box.current ?? {};
    following.value = false;
    const all = viewOf(extent, clientWidth, clientHeight);
    setView(all === null ? null : { ...all, zoom: Math.min(all.zoom, START_ZOOM) });
  };
  useEffect(() => {
    if (view === null && extent.length > 0) showAll();
  });
  useEffect(() => {
    // Of a large fleet it is told a moment after it was chosen.
    if (id === null || told === null || went.current === id) {
      if (id === null) went.current = null;
      return;
    }
    went.current = id;
    setView((last) => ({ lat: told.lat, lon: told.lon, zoom: Math.max(last?.zoom ?? 0, NEAR_ZOOM) }));
  }, [id, told === null]);
  const shown =
    following.value && here !== null
      ? { lat: here.lat, lon: here.lon, zoom: view?.zoom ?? NEAR_ZOOM }
      : (view ?? NOWHERE);
  return (
    <div class={css['map']} ref={box}>
      <FieldMap
        label={hub.fleet.mapLabel}
        base={ground}
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
            why={extent.length === 0 ? hub.fleet.noPlace : null}
            onClick={showAll}
          />
        }
      >
        {children(live, setView)}
      </FieldMap>
      <p class={css['placed']}>{hub.fleet.placed({ placed: countText(placed), all: countText(total) })}</p>
    </div>
  );
}
