import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { expand } from '../../../../../shared/mission/patterns/expand.ts';
import type { Placed } from '../../../../../shared/mission/patterns/placed.ts';
import {
  cornersOf,
  type PatternSettings,
  withCorners,
} from '../../../../../shared/mission/patterns/settings.ts';
import { Circle, Line } from '../../map/layers.tsx';
import type { Place } from '../../map/projection.ts';
import { radiusHandle, radiusTo } from './drawing.ts';
import { changePattern } from './entries.ts';
import { isLook } from './estimate/totals.ts';
import { Between, Handle, POINT_R } from './handle.tsx';
import { type Items, isSomewhere, placeOf, round } from './list.ts';
import type { Sketch } from './sketch.ts';

/** A pattern on the map: what it covers, the way through it, and, when it is chosen, its corners. */
export function PatternLayer({
  sketch,
  placed,
  number,
}: {
  readonly sketch: Sketch;
  readonly placed: Placed;
  /** Of its first item; null: it has no room. */
  readonly number: string | null;
}): JSX.Element {
  /** While a corner is dragged: as it would be. */
  const [shown, setShown] = useState<PatternSettings | null>(null);
  const active = sketch.part.value === 'mission';
  const chosen = active && sketch.chosenPattern.value?.from === placed.from;
  const trial = chosen ? (sketch.trial.value?.settings ?? null) : null;
  const settings = shown ?? trial ?? placed.settings;
  const preview = shown === null ? null : expand(shown);
  const items = preview !== null && 'items' in preview ? preview.items : placed.items;
  const way = wayOf(items);
  const corners = cornersOf(settings);
  const change = (next: PatternSettings): void => changePattern(sketch, placed, next);
  const [first] = way;
  return (
    <g class={`pattern${chosen ? ' chosen' : ''}${active ? '' : ' dim'}`}>
      {settings.kind === 'orbit' ? (
        <Circle centre={settings.centre} radius={settings.radius} kind="area" />
      ) : (
        <Line
          places={corners}
          kind={settings.kind === 'corridor' ? 'course' : 'area'}
          closed={settings.kind !== 'corridor'}
        />
      )}
      <Line places={way} kind="way" />
      {first === undefined ? null : (
        <Handle
          at={first}
          kind="entry"
          {...(number === null ? { radius: POINT_R } : {})}
          chosen={chosen}
          onChoose={active && !chosen ? () => sketch.show('mission', placed.from) : undefined}
        >
          {number === null ? null : <text dy="0.35em">{number}</text>}
        </Handle>
      )}
      {chosen ? (
        <>
          <Corners sketch={sketch} settings={settings} onShow={setShown} onChange={change} />
          {settings.kind === 'orbit' ? (
            <Handle
              at={radiusHandle(settings.centre, settings.radius)}
              kind="radius"
              radius={9}
              onDrag={(to) =>
                setShown(to === null ? null : { ...settings, radius: radiusTo(settings.centre, to) })
              }
              onMove={(to) => change({ ...settings, radius: radiusTo(settings.centre, to) })}
            />
          ) : null}
        </>
      ) : null}
    </g>
  );
}

function Corners({
  sketch,
  settings,
  onShow,
  onChange,
}: {
  readonly sketch: Sketch;
  readonly settings: PatternSettings;
  readonly onShow: (settings: PatternSettings | null) => void;
  readonly onChange: (settings: PatternSettings) => void;
}): JSX.Element {
  const corners = cornersOf(settings);
  const isClosed = settings.kind !== 'corridor';
  const put = (at: number, { lat, lon }: Place): PatternSettings =>
    withCorners(settings, corners.with(at, { lat: round(lat), lon: round(lon) }));
  const insert = (at: number, { lat, lon }: Place): PatternSettings =>
    withCorners(settings, corners.toSpliced(at, 0, { lat: round(lat), lon: round(lon) }));
  return (
    <>
      {settings.kind === 'orbit'
        ? null
        : corners.map((corner, at) => {
            const next = corners[at + 1] ?? (isClosed ? corners[0] : undefined);
            if (next === undefined) return null;
            return (
              <Between
                key={`between ${at}`}
                a={corner}
                b={next}
                onDrag={(to) => onShow(to === null ? null : insert(at + 1, to))}
                onInsert={(to) => {
                  onChange(insert(at + 1, to));
                  sketch.corner.value = at + 1;
                }}
              />
            );
          })}
      {corners.map((corner, at) => (
        <Handle
          key={at}
          at={corner}
          kind="corner"
          radius={10}
          chosen={sketch.corner.value === at}
          onChoose={() => (sketch.corner.value = at)}
          onDrag={(to) => onShow(to === null ? null : put(at, to))}
          onMove={(to) => {
            onChange(put(at, to));
            sketch.corner.value = at;
          }}
        />
      ))}
    </>
  );
}

function wayOf(items: Items): readonly Place[] {
  return items.filter((item) => isSomewhere(item) && !isLook(item.command)).map(placeOf);
}
