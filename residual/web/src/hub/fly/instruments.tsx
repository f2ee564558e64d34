import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { seenIn } from '../../../../../shared/flight/seen.ts';
import { memberOf } from '../../../../../shared/member.ts';
import { now as clock } from '../../api/presence.ts';
import { Line, Marker, Vehicle } from '../../map/layers.tsx';
import { Map as FieldMap } from '../../map/map.tsx';
import type { Place, View } from '../../map/projection.ts';
import { HorizonDial } from '../../parts/horizon-dial.tsx';
import { Button, Card } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { figuresOf } from '../fleet.ts';
import css from '../hub.module.css';
import { hub } from '../words.ts';
import { target } from './commands.tsx';
import { liveOf } from './live.ts';

const DEGREE = 180 / Math.PI;
const START_ZOOM = 17;
const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };
const MAX_POINTS = 2000;
/** About a metre and a half. */
const STEP_DEG = 0.000_015;

/** Where the vehicle is, how it stands, and where it was since the page was opened. */
export function MapAndHorizon({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  void clock.value;
  const { body } = liveOf(entry.id);
  const { place: livePlace } = seenIn(body);
  const figures = figuresOf(entry);
  const place = livePlace ?? figures.place;
  const heading = numberIn(body, 'position', 'heading') ?? figures.place?.heading ?? null;
  const [roll, pitch] = (['roll', 'pitch'] as const).map((name) => numberIn(body, 'attitude', name));
  const attitude =
    typeof roll === 'number' && typeof pitch === 'number'
      ? { roll: roll * DEGREE, pitch: pitch * DEGREE }
      : null;
  const track = useTrack(entry.id, livePlace);
  const [view, setView] = useState<View | null>(null);
  const [following, setFollowing] = useState(true);
  const shown: View =
    place !== null && following ? { ...place, zoom: view?.zoom ?? START_ZOOM } : (view ?? NOWHERE);
  const aim = target.value === null ? null : { lat: Number(target.value.lat), lon: Number(target.value.lon) };
  return (
    <Card title={t.fly.map} wide>
      <div class={css['node-map']}>
        <FieldMap
          label={t.fly.map}
          view={shown}
          onView={(next) => {
            if (next.zoom === shown.zoom) setFollowing(false);
            setView(next);
          }}
          onPick={({ lat, lon }) => {
            target.value = { lat: lat.toFixed(7), lon: lon.toFixed(7) };
          }}
        >
          <Line places={track} kind="track" />
          {aim !== null && Number.isFinite(aim.lat) && Number.isFinite(aim.lon) ? (
            <Marker at={aim} text="+" kind="target" />
          ) : null}
          {place === null ? null : <Vehicle at={place} heading={heading} old={livePlace === null} />}
        </FieldMap>
        <HorizonDial class={css['dial']} attitude={attitude} heading={livePlace === null ? null : heading} />
      </div>
      <p class="row">
        <Button aria-pressed={following} onClick={() => setFollowing(!following)}>
          {t.map.follow}
        </Button>
        <span class="hint">{place === null ? hub.fly.noPlace : hub.fly.tap}</span>
      </p>
    </Card>
  );
}

function numberIn(body: unknown, group: string, member: string): number | null {
  const value = memberOf(memberOf(body, group), member);
  return typeof value === 'number' ? value : null;
}

/** The way flown since the page shows this node. */
function useTrack(id: string, place: Place | null): readonly Place[] {
  const [track, setTrack] = useState<readonly Place[]>([]);
  useEffect(() => setTrack([]), [id]);
  useEffect(() => {
    if (place === null) return;
    setTrack((points) => {
      const last = points.at(-1);
      const near =
        last !== undefined && Math.abs(last.lat - place.lat) + Math.abs(last.lon - place.lon) <= STEP_DEG;
      if (near) return points;
      // A track that is full becomes coarser rather than shorter.
      return [...(points.length < MAX_POINTS ? points : points.filter((_, at) => at % 2 === 0)), place];
    });
  }, [place?.lat, place?.lon]);
  return track;
}
