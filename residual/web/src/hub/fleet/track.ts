import { useEffect, useState } from 'preact/hooks';
import type { Place } from '../../map/projection.ts';

const MAX_POINTS = 2000;
/** About a metre and a half. */
const STEP_DEG = 0.000_015;

/** The way flown since the page shows this node. */
export function useTrack(id: string | null, place: Place | null): readonly Place[] {
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
