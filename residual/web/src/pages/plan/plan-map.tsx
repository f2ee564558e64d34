import type { ComponentChildren, JSX } from 'preact';
import { CMD } from '../../../../../shared/mission/commands.ts';
import type { Placed } from '../../../../../shared/mission/patterns/placed.ts';
import { shapesOf } from '../../../../../shared/mission/shapes.ts';
import { MISSION_PARTS } from '../../../../../shared/schemas/mission-item.ts';
import { fresh } from '../../api/telemetry.ts';
import { useBase } from '../../map/base.tsx';
import { useProjection } from '../../map/context.ts';
import { Circle, Line, Vehicle } from '../../map/layers.tsx';
import { Map } from '../../map/map.tsx';
import type { Place, View } from '../../map/projection.ts';
import { withRoom } from '../../map/room.ts';
import { here } from '../../vehicle/vehicle-state.ts';
import { type Drawing, radiusHandle, radiusTo } from './drawing.ts';
import { isLook } from './estimate/totals.ts';
import { Between, Handle, POINT_R } from './handle.tsx';
import { edited, type Items, inserted, isSomewhere, newItem, type Part, placeOf, round } from './list.ts';
import { PatternLayer } from './pattern-layer.tsx';
import { planWords } from './plan-words.ts';
import { withCorner } from './shapes.ts';
import { patternAt, type Sketch } from './sketch.ts';

const WORLD: View = { lat: 20, lon: 0, zoom: 1.5 };

/** The plan on the map: points are dragged, `+` between two makes a third, a tap does what the tool does. */
export function PlanMap({
  sketch,
  drawing,
  home,
  tools,
}: {
  readonly sketch: Sketch;
  readonly drawing: Drawing;
  readonly home: Place | null;
  readonly tools: ComponentChildren;
}): JSX.Element {
  const { base, choice, start } = useBase();
  const at = here.value;
  const heading = fresh('position', ({ position }) => position.heading);
  const corners = drawing.corners.value;
  return (
    <>
      <Map
        label={planWords.map}
        base={base}
        view={sketch.view.value ?? start ?? WORLD}
        onView={(view) => (sketch.view.value = view)}
        onPick={(place) => drawing.pick(place)}
        tools={tools}
      >
        <Drawn sketch={sketch} home={home} />
        <Line
          places={drawing.isMade.value ? [] : corners}
          kind="draft"
          closed={drawing.tool.value !== 'corridor' && corners.length > 2}
        />
        {(drawing.isMade.value ? [] : corners).map((corner, index) => (
          <Handle
            key={index}
            at={corner}
            kind="corner"
            radius={10}
            onMove={({ lat, lon }) =>
              (drawing.corners.value = corners.with(index, { lat: round(lat), lon: round(lon) }))
            }
          />
        ))}
        {at === null ? null : <Vehicle at={at} heading={heading} />}
      </Map>
      {choice}
    </>
  );
}

/** Which of the items have their number on the map of now. */
type Numbered = (part: Part, at: number) => boolean;

/** What is in the plan. Numbers that would cover each other are left out until one zooms in; what is chosen or flown now comes first. */
function Drawn({ sketch, home }: { sketch: Sketch; home: Place | null }): JSX.Element {
  const projection = useProjection();
  const current = useFlown();
  const [shown, chosen] = [sketch.part.value, sketch.chosen.value];
  const placed = sketch.placed.value;
  const marks = MISSION_PARTS.flatMap((part) =>
    sketch.lists.value[part].flatMap((item, at) => {
      const pattern = part === 'mission' ? patternAt(placed, at) : null;
      if (!isSomewhere(item) || (pattern !== null && entryOf(pattern) !== at)) return [];
      const isEnd = at === 0 || at === sketch.lists.value[part].length - 1;
      const isNow =
        part === shown && (at === chosen || (pattern !== null && pattern === sketch.chosenPattern.value));
      const rank =
        (part === shown ? 0 : 10) +
        (isNow ? 0 : item.seq === current ? 1 : pattern !== null || isEnd ? 2 : 3);
      return [{ key: `${part} ${at}`, place: placeOf(item), rank }];
    }),
  ).toSorted((a, b) => a.rank - b.rank);
  const room = withRoom(projection, [...(home === null ? [] : [home]), ...marks.map(({ place }) => place)]);
  const keys = new Set(marks.filter(({ place }) => room.has(place)).map(({ key }) => key));
  const numbered: Numbered = (part, at) => keys.has(`${part} ${at}`);
  return (
    <>
      <Fence sketch={sketch} numbered={numbered} />
      <Route sketch={sketch} home={home} current={current} numbered={numbered} />
      <Points sketch={sketch} part="rally" numbered={numbered} />
      {home === null ? null : (
        <Handle at={home} kind="home">
          <text dy="0.35em">H</text>
        </Handle>
      )}
    </>
  );
}

/** The first item of a pattern that is somewhere. */
function entryOf({ from, items }: Placed): number {
  return from + items.findIndex((item) => isSomewhere(item) && !isLook(item.command));
}

/** The item of the mission that is flown at this moment; null: none is. */
function useFlown(): number | null {
  const mission = fresh('mission', (body) => body.mission);
  return mission?.state === 'active' || mission?.state === 'paused' ? (mission.current ?? null) : null;
}

function Route({
  sketch,
  home,
  current,
  numbered,
}: {
  readonly sketch: Sketch;
  readonly home: Place | null;
  readonly current: number | null;
  readonly numbered: Numbered;
}): JSX.Element {
  const items = sketch.lists.value.mission;
  const placed = sketch.placed.value;
  const flown = items.flatMap((item, at) =>
    isSomewhere(item) && !isLook(item.command) ? [{ at, place: placeOf(item) }] : [],
  );
  const active = sketch.part.value === 'mission';
  const next = current === null ? undefined : flown.find(({ at }) => (items[at]?.seq ?? 0) >= current);
  return (
    <>
      <Line
        places={[...(home === null ? [] : [home]), ...flown.map(({ place }) => place)]}
        kind={active ? 'route' : 'route dim'}
      />
      {placed.map((each) => (
        <PatternLayer
          key={each.from}
          sketch={sketch}
          placed={each}
          number={numbered('mission', entryOf(each)) ? String(items[each.from]?.seq ?? '') : null}
        />
      ))}
      {active
        ? flown.map(({ at, place }, index) => {
            const before = flown[index - 1];
            // Within a pattern there is nothing to insert.
            const inside = patternAt(placed, at);
            if (before === undefined || (inside !== null && at > inside.from)) return null;
            return (
              <Between
                key={`between ${at}`}
                a={before.place}
                b={place}
                onInsert={({ lat, lon }) => {
                  const to = { lat: round(lat), lon: round(lon) };
                  sketch.change(inserted(items, at, newItem(items, at, CMD.waypoint, to)));
                  sketch.show('mission', at);
                }}
              />
            );
          })
        : null}
      <Points sketch={sketch} part="mission" current={next?.at ?? null} numbered={numbered} />
    </>
  );
}

function Fence({ sketch, numbered }: { sketch: Sketch; numbered: Numbered }): JSX.Element {
  const items = sketch.lists.value.fence;
  const active = sketch.part.value === 'fence';
  return (
    <>
      {shapesOf(items).map((shape) => {
        const { from, count, inside, kind } = shape;
        const corners = items.slice(from, from + count).map(placeOf);
        const [first] = corners;
        if (first === undefined || kind === 'return') return null;
        const look = inside ? 'inside' : 'outside';
        const radius = items[from]?.param1 ?? 0;
        if (kind === 'circle')
          return (
            <g key={from}>
              <Circle centre={first} radius={radius} kind={look} />
              {active ? (
                <Handle
                  at={radiusHandle(first, radius)}
                  kind="radius"
                  radius={9}
                  onMove={(to) => sketch.change(edited(items, from, { param1: radiusTo(first, to) }))}
                />
              ) : null}
            </g>
          );
        return (
          <g key={from}>
            <Line places={corners} kind={look} closed />
            {active
              ? corners.map((corner, index) => (
                  <Between
                    key={index}
                    a={corner}
                    b={corners[(index + 1) % count] ?? first}
                    onInsert={({ lat, lon }) => {
                      const to = { lat: round(lat), lon: round(lon) };
                      sketch.change(withCorner(items, shape, from + index + 1, to));
                      sketch.show('fence', from + index + 1);
                    }}
                  />
                ))
              : null}
          </g>
        );
      })}
      <Points sketch={sketch} part="fence" numbered={numbered} />
    </>
  );
}

function Points({
  sketch,
  part,
  current = null,
  numbered,
}: {
  sketch: Sketch;
  part: Part;
  current?: number | null;
  numbered: Numbered;
}): JSX.Element {
  const items: Items = sketch.lists.value[part];
  const active = sketch.part.value === part;
  const fault = sketch.faults.value.find((each) => each.part === part)?.index;
  const placed = part === 'mission' ? sketch.placed.value : [];
  if (part === 'fence' && !active) return <></>;
  return (
    <>
      {items.map((item, at) =>
        isSomewhere(item) && patternAt(placed, at) === null ? (
          <Handle
            key={`${part} ${at}`}
            at={placeOf(item)}
            kind={`${part}${active ? '' : ' dim'}${fault === at ? ' fault' : ''}${isLook(item.command) ? ' look' : ''}${current === at ? ' current' : ''}`}
            {...(numbered(part, at) ? {} : { radius: POINT_R })}
            chosen={active && sketch.chosen.value === at}
            onChoose={() => sketch.show(part, at)}
            onMove={({ lat, lon }) =>
              sketch.change(edited(sketch.lists.value[part], at, { x: round(lat), y: round(lon) }), part)
            }
          >
            {numbered(part, at) ? (
              <text dy="0.35em">{part === 'rally' ? `R${item.seq}` : String(item.seq)}</text>
            ) : null}
          </Handle>
        ) : null,
      )}
    </>
  );
}
