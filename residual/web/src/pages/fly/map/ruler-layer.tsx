import { Undo2, X } from 'lucide';
import type { JSX } from 'preact';
import { Line, Marker } from '../../../map/layers.tsx';
import { distance } from '../../../map/projection.ts';
import { Button } from '../../../parts/button.tsx';
import { t } from '../../../strings.ts';
import { legText, lengthText } from './lengths.ts';
import css from './map.module.css';
import { ruler } from './state.ts';
import { PlaceLabel } from './target-layer.tsx';

/** Points that were tapped, each with the leg to it; they can be dragged. */
export function RulerLayer(): JSX.Element | null {
  const points = ruler.value;
  if (points === null) return null;
  return (
    <>
      <Line places={points} kind="ruler" />
      {points.map((point, at) => {
        const before = points[at - 1];
        return (
          <g key={at}>
            {before === undefined ? null : <PlaceLabel at={point} text={legText(before, point)} />}
            <Marker
              at={point}
              text={String(at + 1)}
              kind="ruler"
              onMove={(place) => (ruler.value = points.with(at, place))}
            />
          </g>
        );
      })}
    </>
  );
}

/** How far it is altogether, and the way out. */
export function RulerBar(): JSX.Element | null {
  const points = ruler.value;
  if (points === null) return null;
  const total = points.reduce((sum, point, at) => {
    const before = points[at - 1];
    return before === undefined ? sum : sum + distance(before, point);
  }, 0);
  const [from, to] = [points.at(-2), points.at(-1)];
  return (
    <div class={css['ruler']}>
      <p role="status">
        {from === undefined || to === undefined ? (
          t.map.rulerHint
        ) : (
          <>
            <strong>{legText(from, to)}</strong>
            {points.length > 2 ? ` ${t.map.rulerTotal({ distance: lengthText(total) })}` : ''}
          </>
        )}
      </p>
      {points.length === 0 ? null : (
        <Button
          kind="quiet"
          icon={Undo2}
          aria-label={t.map.rulerUndo}
          onClick={() => (ruler.value = points.slice(0, -1))}
        />
      )}
      <Button kind="quiet" icon={X} aria-label={t.map.rulerEnd} onClick={() => (ruler.value = null)} />
    </div>
  );
}
