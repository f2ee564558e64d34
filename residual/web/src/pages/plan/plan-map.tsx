import type { ComponentChildren, JSX } from 'preact';
import { CMD } from '../../../../../shared/mission/commands.ts';
import { shapesOf } from '../../../../../shared/mission/shapes.ts';
import { fresh } from '../../api/telemetry.ts';
import { useBase } from '../../map/base.tsx';
import { Circle, Line, Vehicle } from '../../map/layers.tsx';
import { Map } from '../../map/map.tsx';
import type { Place, View } from '../../map/projection.ts';
import { t } from '../../strings.ts';
import { here } from '../../vehicle/vehicle-state.ts';
import { type Drawing, radiusHandle, radiusTo } from './drawing.ts';
import { isLook } from './estimate/totals.ts';
import { Handle } from './handle.tsx';
import { edited, type Items, inserted, isSomewhere, newItem, type Part, placeOf, round } from './list.ts';
import { PatternLayer } from './pattern-layer.tsx';
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
        label={t.plan.map}
        base={base}
        view={sketch.view.value ?? start ?? WORLD}
        onView={(view) => (sketch.view.value = view)}
        onPick={(place) => drawing.pick(place)}
        tools={tools}
      >
        <Fence sketch={sketch} />
        <Route sketch={sketch} home={home} />
        <Points sketch={sketch} part="rally" />
        {home === null ? null : (
          <Handle at={home} kind="home">
            <text dy="0.35em">H</text>
          </Handle>
        )}
        <Line
          places={corners}
          kind="draft"
          closed={drawing.tool.value !== 'corridor' && corners.length > 2}
        />
        {corners.map((corner, index) => (
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

/** The item of the mission that is flown at this moment; null: none is. */
function useFlown(): number | null {
  const mission = fresh('mission', (body) => body.mission);
  return mission?.state === 'active' || mission?.state === 'paused' ? (mission.current ?? null) : null;
}

function Route({ sketch, home }: { sketch: Sketch; home: Place | null }): JSX.Element {
  const items = sketch.lists.value.mission;
  const placed = sketch.placed.value;
  const flown = items.flatMap((item, at) =>
    isSomewhere(item) && !isLook(item.command) ? [{ at, place: placeOf(item) }] : [],
  );
  const active = sketch.part.value === 'mission';
  const current = useFlown();
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
          number={String(items[each.from]?.seq ?? '')}
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
                onInsert={(to) => {
                  sketch.change(inserted(items, at, newItem(items, at, CMD.waypoint, to)));
                  sketch.show('mission', at);
                }}
              />
            );
          })
        : null}
      <Points sketch={sketch} part="mission" current={next?.at ?? null} />
    </>
  );
}

function Fence({ sketch }: { sketch: Sketch }): JSX.Element {
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
                    onInsert={(to) => {
                      sketch.change(withCorner(items, shape, from + index + 1, to));
                      sketch.show('fence', from + index + 1);
                    }}
                  />
                ))
              : null}
          </g>
        );
      })}
      <Points sketch={sketch} part="fence" />
    </>
  );
}

function Between({ a, b, onInsert }: { a: Place; b: Place; onInsert: (at: Place) => void }): JSX.Element {
  const middle = { lat: (a.lat + b.lat) / 2, lon: (a.lon + b.lon) / 2 };
  return (
    <Handle
      at={middle}
      kind="between"
      radius={9}
      onMove={({ lat, lon }) => onInsert({ lat: round(lat), lon: round(lon) })}
    >
      <text dy="0.35em">+</text>
    </Handle>
  );
}

function Points({
  sketch,
  part,
  current = null,
}: {
  sketch: Sketch;
  part: Part;
  current?: number | null;
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
            chosen={active && sketch.chosen.value === at}
            onChoose={() => sketch.show(part, at)}
            onMove={({ lat, lon }) =>
              sketch.change(edited(sketch.lists.value[part], at, { x: round(lat), y: round(lon) }), part)
            }
          >
            <text dy="0.35em">{part === 'rally' ? `R${item.seq}` : String(item.seq)}</text>
          </Handle>
        ) : null,
      )}
    </>
  );
}
