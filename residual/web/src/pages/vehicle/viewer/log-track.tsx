import { Map as MapIcon } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useBase } from '../../../map/base.tsx';
import { Line, Vehicle } from '../../../map/layers.tsx';
import { Map } from '../../../map/map.tsx';
import { distance, type Place, type View, viewOf } from '../../../map/projection.ts';
import { Card } from '../../../parts/parts.tsx';
import type { LogClient } from './log-client.ts';
import type { LogTimes } from './times.ts';
import css from './viewer.module.css';
import { viewerWords as words } from './viewer-words.ts';

interface Stop extends Place {
  /** s since the beginning of the log. */
  readonly at: number;
}

/** Where the vehicle was, and where at the cursor; a tap on the way moves the cursor there. */
export function LogTrack({
  client,
  times,
  cursor,
  onCursor,
  onFailure,
}: {
  client: LogClient;
  times: LogTimes;
  cursor: number | null;
  onCursor: (at: number) => void;
  onFailure: (error: unknown) => void;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const { base, choice } = useBase();
  const [stops, setStops] = useState<readonly Stop[] | null>(null);
  const [view, setView] = useState<View | null>(null);
  useEffect(() => {
    let wanted = true;
    client.ask('track', {}).then(
      (track) => {
        if (!wanted) return;
        const all = [...(track?.times ?? [])].map((at, index) => ({
          at: at - times.start,
          lat: track?.lats[index] ?? 0,
          lon: track?.lons[index] ?? 0,
        }));
        setStops(all);
        const { clientWidth = 300 } = box.current ?? {};
        setView(viewOf(all, clientWidth, 300));
      },
      (error: unknown) => wanted && onFailure(error),
    );
    return () => {
      wanted = false;
    };
  }, [client]);
  const here = cursor === null ? undefined : (stops?.findLast(({ at }) => at <= cursor) ?? stops?.[0]);
  return (
    <Card title={words.track} icon={MapIcon}>
      <div class={css['map']} ref={box}>
        {view === null || stops === null ? (
          <p class="hint">{stops === null ? '' : words.noTrack}</p>
        ) : (
          <Map
            label={words.map}
            view={view}
            onView={setView}
            base={base}
            onPick={(place) => onCursor(nearest(stops, place))}
          >
            <Line places={stops} kind="track" />
            {here === undefined ? null : <Vehicle at={here} heading={null} />}
          </Map>
        )}
      </div>
      {choice}
    </Card>
  );
}

function nearest(stops: readonly Stop[], place: Place): number {
  let [best, at] = [Number.POSITIVE_INFINITY, 0];
  for (const stop of stops) {
    const metres = distance(stop, place);
    if (metres < best) [best, at] = [metres, stop.at];
  }
  return at;
}
