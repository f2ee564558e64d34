import type { JSX } from 'preact';
import { CMD } from '../../../../../shared/mission/commands.ts';
import { fresh } from '../../api/telemetry.ts';
import { useBase } from '../../map/base.tsx';
import { Circle, Line, Marker, Vehicle } from '../../map/layers.tsx';
import { Map } from '../../map/map.tsx';
import type { Place, View } from '../../map/projection.ts';
import { t } from '../../strings.ts';
import { placeToAdd } from './item-table.tsx';
import { edited, type Items, inserted, isSomewhere, newItem, type Part, placeOf, round } from './list.ts';
import { shapeAt, shapesOf, withCorner } from './shapes.ts';
import type { Sketch } from './sketch.ts';
import { isLook } from './totals.ts';

const WORLD: View = { lat: 20, lon: 0, zoom: 1.5 };

/** The plan on the map: points are dragged, `+` between two makes a third, a click adds. */
export function PlanMap({
  sketch,
  home,
  adds,
}: {
  sketch: Sketch;
  home: Place | null;
  /** A click adds an item. */
  adds: boolean;
}): JSX.Element {
  const { base, choice, start } = useBase();
  const part = sketch.part.value;
  const items = sketch.items.value;
  const at = fresh('position', ({ position: { lat, lon } }) =>
    typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : null,
  );
  const heading = fresh('position', ({ position }) => position.heading);
  const pick = (place: Place): void => {
    if (!adds) return;
    const chosen = sketch.chosen.value;
    const shape = part === 'fence' && chosen !== null ? shapeAt(items, chosen) : undefined;
    if (shape?.kind === 'polygon' && chosen !== null) {
      sketch.change(withCorner(items, shape, chosen + 1, place));
      sketch.show(part, chosen + 1);
    } else if (part !== 'fence') {
      const to = placeToAdd(sketch);
      const command = part === 'rally' ? CMD.rallyPoint : CMD.waypoint;
      sketch.change(inserted(items, to, newItem(items, to, command, place)));
      // What follows goes behind it, until another one is chosen.
      if (sketch.chosen.value !== null) sketch.chosen.value = to;
    }
  };
  return (
    <>
      <Map
        label={t.plan.map}
        base={base}
        view={sketch.view.value ?? start ?? WORLD}
        onView={(view) => (sketch.view.value = view)}
        onPick={pick}
      >
        <Fence sketch={sketch} />
        <Route sketch={sketch} home={home} />
        <Points sketch={sketch} part="rally" />
        {home === null ? null : <Marker at={home} text="H" kind="home" />}
        {at === null ? null : <Vehicle at={at} heading={heading} />}
      </Map>
      {choice}
    </>
  );
}

function Route({ sketch, home }: { sketch: Sketch; home: Place | null }): JSX.Element {
  const items = sketch.lists.value.mission;
  const flown = items.flatMap((item, at) =>
    isSomewhere(item) && !isLook(item.command) ? [{ at, place: placeOf(item) }] : [],
  );
  const active = sketch.part.value === 'mission';
  return (
    <>
      <Line
        places={[...(home === null ? [] : [home]), ...flown.map(({ place }) => place)]}
        kind={active ? 'route' : 'route dim'}
      />
      {active
        ? flown.map(({ at, place }, index) => {
            const before = flown[index - 1];
            return before === undefined ? null : (
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
      <Points sketch={sketch} part="mission" />
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
        if (kind === 'circle')
          return <Circle key={from} centre={first} radius={items[from]?.param1 ?? 0} kind={look} />;
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
    <Marker
      at={middle}
      text="+"
      kind="between"
      onMove={({ lat, lon }) => onInsert({ lat: round(lat), lon: round(lon) })}
    />
  );
}

function Points({ sketch, part }: { sketch: Sketch; part: Part }): JSX.Element {
  const items: Items = sketch.lists.value[part];
  const active = sketch.part.value === part;
  const fault = sketch.faults.value.find((each) => each.part === part)?.index;
  if (part === 'fence' && !active) return <></>;
  return (
    <>
      {items.map((item, at) =>
        isSomewhere(item) ? (
          <Marker
            key={`${part} ${at}`}
            at={placeOf(item)}
            text={part === 'rally' ? `R${item.seq}` : String(item.seq)}
            kind={`${part}${active ? '' : ' dim'}${fault === at ? ' fault' : ''}${isLook(item.command) ? ' look' : ''}`}
            chosen={active && sketch.chosen.value === at}
            onChoose={() => sketch.show(part, at)}
            onMove={({ lat, lon }) =>
              sketch.change(edited(sketch.lists.value[part], at, { x: round(lat), y: round(lon) }), part)
            }
          />
        ) : null,
      )}
    </>
  );
}
