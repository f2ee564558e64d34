import { Crosshair } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { seenIn } from '../../../../../shared/flight/seen.ts';
import { now as clock } from '../../api/presence.ts';
import { Marker, Vehicle } from '../../map/layers.tsx';
import { Map as FieldMap } from '../../map/map.tsx';
import type { View } from '../../map/projection.ts';
import { TrackLayer } from '../../map/track-layer.tsx';
import { Button } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { figuresOf } from '../fleet/fleet.ts';
import { useTrack } from '../fleet/track.ts';
import { liveOf } from '../fly/live.ts';
import { useGround } from '../ground.tsx';
import { target } from './commands.tsx';
import { numberIn } from './instruments.tsx';

const START_ZOOM = 17;
const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };

/** Where the vehicle is, where it was since the page was opened, and where it is to go. */
export function NodeMap({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  void clock.value;
  const { body } = liveOf(entry.id);
  const { place: livePlace, home } = seenIn(body);
  const figures = figuresOf(entry);
  const place = livePlace ?? figures.place;
  const heading = numberIn(body, 'position', 'heading') ?? figures.place?.heading ?? null;
  const track = useTrack(entry.id, livePlace);
  const ground = useGround();
  const [view, setView] = useState<View | null>(null);
  const [following, setFollowing] = useState(true);
  const shown: View =
    place !== null && following ? { ...place, zoom: view?.zoom ?? START_ZOOM } : (view ?? NOWHERE);
  const aim = target.value === null ? null : { lat: Number(target.value.lat), lon: Number(target.value.lon) };
  return (
    <FieldMap
      label={t.fly.map}
      base={ground}
      view={shown}
      onView={(next) => {
        if (next.zoom === shown.zoom) setFollowing(false);
        setView(next);
      }}
      onPick={({ lat, lon }) => {
        target.value = { lat: lat.toFixed(7), lon: lon.toFixed(7) };
      }}
      under={<TrackLayer points={track} />}
      tools={
        <Button
          icon={Crosshair}
          aria-label={t.map.follow}
          aria-pressed={following}
          onClick={() => setFollowing(!following)}
        />
      }
    >
      {home === null ? null : <Marker at={home} text="H" kind="home" />}
      {aim !== null && Number.isFinite(aim.lat) && Number.isFinite(aim.lon) ? (
        <Marker at={aim} text="+" kind="target" />
      ) : null}
      {place === null ? null : <Vehicle at={place} heading={heading} old={livePlace === null} />}
    </FieldMap>
  );
}
