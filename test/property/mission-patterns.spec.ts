import { expect } from 'chai';
import fc from 'fast-check';
import { checkItems } from '../../shared/mission/check.ts';
import { isPlace } from '../../shared/mission/commands.ts';
import { itemsIn } from '../../shared/mission/document.ts';
import { groundResolution, heightFor, PRESETS, presetOf } from '../../shared/mission/patterns/camera.ts';
import { type Expansion, expand } from '../../shared/mission/patterns/expand.ts';
import { patternOf, placedIn } from '../../shared/mission/patterns/placed.ts';
import { apart, type Flat, type LatLon, Plane, turnedNorth } from '../../shared/mission/patterns/plane.ts';
import { bestHeading, hull, isInside } from '../../shared/mission/patterns/polygon.ts';
import {
  type Corridor,
  type Orbit,
  type PatternSettings,
  type Structure,
  type Survey,
  settled,
  withCorners,
  wrongFigure,
} from '../../shared/mission/patterns/settings.ts';
import { circle, square } from '../../shared/mission/patterns/templates.ts';
import { makePlan, patternsIn } from '../../shared/mission/plan.ts';

const real = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((value) => value + 0); // no -0
/** Not at 0/0, which is no place on the wire. */
const place = fc
  .record({ lat: real(-70, 70), lon: real(-179.9, 179.9) })
  .filter(({ lat, lon }) => Math.abs(lat) + Math.abs(lon) > 0.1);

/** Without crossing sides: its corners around a middle, each at its own distance; concave as often as not. */
const area = fc
  .tuple(place, fc.array(real(40, 300), { minLength: 3, maxLength: 14 }), real(0, 6))
  .map(([middle, far, turn]) => {
    const plane = new Plane(middle);
    return far.map((radius, at) => {
      const angle = turn + (2 * Math.PI * at) / far.length;
      return plane.toPlace({ x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
    });
  });

const photos = fc.record({
  camera: fc.option(fc.constantFrom(...PRESETS.map(({ name: _name, ...camera }) => camera))),
  distance: real(15, 120),
  byResolution: fc.boolean(),
  frontOverlap: fc.integer({ min: 0, max: 85 }),
  sideOverlap: fc.integer({ min: 0, max: 85 }),
  sideStep: real(8, 80),
  frontStep: fc.oneof(real(4, 60), fc.constant(0)),
});
const transects = fc.record({
  above: fc.constantFrom('home', 'sea', 'terrain'),
  turnaround: fc.oneof(fc.constant(0), real(1, 60)),
  photosInTurns: fc.boolean(),
  hover: fc.boolean(),
  entry: fc.integer({ min: 0, max: 3 }),
});
const survey: fc.Arbitrary<Survey> = fc
  .tuple(photos, transects, area, real(0, 360), fc.boolean(), fc.boolean())
  .map(([a, b, polygon, angle, crosshatch, alternate]) =>
    settled({ kind: 'survey', ...a, ...b, polygon, angle, crosshatch, alternate }),
  );
const corridor: fc.Arbitrary<Corridor> = fc
  .tuple(photos, transects, area, real(0, 120))
  .map(([a, b, line, width]) => settled({ kind: 'corridor', ...a, ...b, line, width }));
const structure: fc.Arbitrary<Structure> = fc
  .tuple(photos, area, real(10, 90), real(0, 9), fc.boolean())
  .map(([a, polygon, top, bottom, fromTop]) => {
    const frontStep = Math.max(4, a.frontStep);
    return settled({
      kind: 'structure',
      ...a,
      frontStep,
      polygon,
      top,
      bottom,
      entrance: 60,
      fromTop,
      pitch: 0,
    });
  });
const orbit: fc.Arbitrary<Orbit> = fc.record({
  kind: fc.constant('orbit'),
  centre: place,
  radius: real(5, 300),
  height: real(5, 120),
  lookHeight: real(0, 60),
  turns: fc.constantFrom(0.5, 1, 2, 3.5),
  clockwise: fc.boolean(),
  start: real(0, 360),
  trigger: fc.oneof(fc.constant(0), real(2, 50)),
});
const pattern: fc.Arbitrary<PatternSettings> = fc.oneof(survey, corridor, structure, orbit);

function made(settings: PatternSettings): Expansion | null {
  const result = expand(settings);
  if ('problem' in result) {
    expect(['many', 'crossing', 'steps']).to.include(result.problem);
    return null;
  }
  return result;
}

function flown({ items }: Expansion, plane: Plane): readonly Flat[] {
  return items.filter(({ command }) => command === 16).map(({ x, y }) => plane.toFlat({ lat: x, lon: y }));
}

/** m from a point to the nearest of a way. */
function toWay(point: Flat, way: readonly Flat[]): number {
  return Math.min(
    ...way.slice(1).map((b, at) => {
      const a = way[at] ?? b;
      const length = apart(a, b);
      const along =
        length === 0 ? 0 : ((point.x - a.x) * (b.x - a.x) + (point.y - a.y) * (b.y - a.y)) / length;
      const t = length === 0 ? 0 : Math.max(0, Math.min(1, along / length));
      return apart(point, { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t });
    }),
  );
}

describe('patterns of a mission (properties)', () => {
  it('each pattern is a mission that the node takes, the same each time, and as long as it says', () => {
    fc.assert(
      fc.property(pattern, (settings) => {
        const result = made(settings);
        if (result === null) return;
        expect(checkItems('mission', result.items, 0)).to.deep.equal(result.items);
        expect(expand(settings)).to.deep.equal(result);
        expect(result.distance).to.be.at.least(0);
        const triggers = result.items.filter(({ command }) => command === 206);
        // Photos that are begun are ended: nothing is photographed on the way home.
        expect(triggers.at(-1)?.param1 ?? 0).to.equal(0);
        if (result.photos > 0)
          expect(result.items.some(({ command }) => [206, 2000].includes(command))).to.equal(true);
        expect(result.items.every(({ command, x, y }) => !isPlace(command) || x !== 0 || y !== 0)).to.equal(
          true,
        );
      }),
    );
  });

  it('a survey covers its polygon: each corner of a concave one, too, lies within half a line and its ends lie on its sides', () => {
    fc.assert(
      fc.property(survey, (settings) => {
        const plain = { ...settings, turnaround: 0, hover: false, crosshatch: false };
        const result = made(plain);
        if (result === null) return;
        const [origin] = settings.polygon;
        const plane = new Plane(origin ?? { lat: 0, lon: 0 });
        const polygon = settings.polygon.map((corner) => turnedNorth(plane.toFlat(corner), settings.angle));
        const points = flown(result, plane).map((point) => turnedNorth(point, settings.angle));
        const courses = points.map(({ x }) => x);
        for (const { x } of polygon)
          expect(Math.min(...courses.map((course) => Math.abs(course - x)))).to.be.at.most(
            settled(plain).sideStep / 2 + 0.1,
          );
        // Each line runs inside: its middle does, and its two points are on one course.
        for (let at = 0; at + 1 < points.length; at += 2) {
          const [a, b] = [points[at], points[at + 1]];
          if (a === undefined || b === undefined || apart(a, b) < 0.5) continue;
          expect(Math.abs(a.x - b.x)).to.be.at.most(0.05);
          expect(isInside(polygon, { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })).to.equal(true);
        }
      }),
    );
  });

  it('the best angle needs no more lines than any other', () => {
    fc.assert(
      fc.property(area, real(0, 180), (polygon, other) => {
        const plane = new Plane(polygon[0] ?? { lat: 0, lon: 0 });
        const corners = polygon.map((corner) => plane.toFlat(corner));
        const across = (heading: number): number => {
          const xs = corners.map((corner) => turnedNorth(corner, heading).x);
          return Math.max(...xs) - Math.min(...xs);
        };
        expect(across(bestHeading(corners))).to.be.at.most(across(other) + 1e-6);
      }),
    );
  });

  it('a structure is never nearer than was asked for, and its layers lie between its bottom and its top', () => {
    fc.assert(
      fc.property(structure, (settings) => {
        const result = made(settings);
        if (result === null) return;
        const plane = new Plane(settings.polygon[0] ?? { lat: 0, lon: 0 });
        const way = flown(result, plane);
        for (const corner of settings.polygon)
          expect(toWay(plane.toFlat(corner), way)).to.be.at.least(settings.distance - 0.1);
        const heights = result.items.slice(1, -1).filter(({ command }) => command === 16);
        for (const { z } of heights) expect(z).to.be.within(settings.bottom, settings.top);
      }),
    );
  });

  it('an orbit keeps its radius and ends after its turns', () => {
    fc.assert(
      fc.property(orbit, (settings) => {
        const result = made(settings);
        if (result === null) return;
        const plane = new Plane(settings.centre);
        for (const point of flown(result, plane))
          expect(Math.abs(apart(point, { x: 0, y: 0 }) - settings.radius)).to.be.at.most(0.1);
        expect(result.distance).to.be.within(
          2 * Math.PI * settings.radius * settings.turns * 0.98,
          2 * Math.PI * settings.radius * settings.turns,
        );
      }),
    );
  });

  it('a corridor’s lines keep their distance from its middle', () => {
    fc.assert(
      fc.property(corridor, (settings) => {
        const result = made({ ...settings, turnaround: 0, hover: false });
        if (result === null) return;
        const plane = new Plane(settings.line[0] ?? { lat: 0, lon: 0 });
        const middle = settings.line.map((point) => plane.toFlat(point));
        const most = Math.max(settings.width, settings.sideStep) / 2;
        // A corner of a right angle lies further out.
        for (const point of flown(result, plane))
          expect(toWay(point, middle)).to.be.at.most(most * 1.45 + 0.5);
      }),
    );
  });

  it('height and ground resolution are each the other’s', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PRESETS), real(5, 500), (camera, height) => {
        expect(heightFor(camera, groundResolution(camera, height))).to.be.closeTo(height, 1e-6);
        expect(presetOf({ ...camera, landscape: false })?.name).to.equal(camera.name);
      }),
    );
  });

  it('a plan keeps the settings of each pattern, out and in, and stays the same when it is written again', () => {
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), fc.constantFrom(0, 1), (all, first) => {
        const patterns = all.flatMap((settings) => {
          const one = patternOf(settings, null);
          return one === null || one.items.length > 1000 ? [] : [one];
        });
        const takeoff = { frame: 3, command: 22, x: 1, y: 1, z: 10 };
        const items = [takeoff, ...patterns.flatMap((one) => one.items), { frame: 2, command: 20 }];
        const mission = checkItems(
          'mission',
          items.map(({ ...item }, at) => ({ ...item, seq: at + first })),
          first,
        );
        const placed = placedIn(mission, patterns);
        expect(placed.length).to.equal(patterns.length);
        const lists = { mission, fence: [], rally: [], home: null, firmware: 'px4' };
        const plan = JSON.parse(JSON.stringify(makePlan({ ...lists, patterns: placed }))) as ReturnType<
          typeof makePlan
        >;
        const back = itemsIn(plan, 'mission', first)?.items ?? [];
        expect(back).to.deep.equal(mission);
        const again = patternsIn(plan, back);
        const known = (list: readonly { settings: PatternSettings }[]): readonly string[] =>
          list.map(({ settings }) => JSON.stringify(inOrder(settings)));
        expect(known(again)).to.have.members(known(placed));
        const once = makePlan({ ...lists, patterns: again });
        expect(JSON.parse(JSON.stringify(once))).to.deep.equal(plan);
      }),
    );
  });

  it('whatever the figures are, it answers with items or with what is wrong', function () {
    this.timeout(30_000);
    const any = fc.oneof(
      fc.double(),
      fc.constantFrom(0, -1, 1e9, 0.0001, Number.NaN, Number.POSITIVE_INFINITY),
    );
    const corners: fc.Arbitrary<readonly LatLon[]> = fc.array(
      fc.oneof(place, fc.record({ lat: any, lon: any })),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(
        pattern,
        corners,
        fc.dictionary(fc.constantFrom(...FIGURES), any),
        (settings, polygon, odd) => {
          const [centre = { lat: 0, lon: 0 }] = polygon;
          const known = Object.fromEntries(Object.entries(odd).filter(([name]) => name in settings));
          const hostile: PatternSettings = {
            ...withCorners(settings, settings.kind === 'orbit' ? [centre] : polygon),
            ...known,
          };
          const began = performance.now();
          const result = expand(hostile);
          expect(performance.now() - began).to.be.below(1000);
          if ('problem' in result) return;
          expect(wrongFigure(hostile)).to.equal(null);
          expect(result.items.length).to.be.at.most(5000);
          checkItems('mission', result.items, 0);
        },
      ),
    );
  });

  it('a sliver of a hundred kilometres, which falls apart into a cell for each line, is answered; it took minutes', () => {
    const sliver = {
      lat: [-1.4e-246, -1, -1.3e-179, -2.5e-22],
      lon: [-6.6e-26, -1, -3.3e-238, 1e-205],
    };
    const polygon = sliver.lat.map((lat, at) => ({ lat, lon: sliver.lon[at] ?? 0 }));
    const [camera] = PRESETS;
    const settings = settled({
      kind: 'survey',
      camera: camera ?? null,
      distance: 38,
      byResolution: false,
      frontOverlap: 2,
      sideOverlap: 13,
      sideStep: 45.5,
      frontStep: 28.9,
      above: 'sea',
      turnaround: 48.6,
      photosInTurns: false,
      hover: true,
      entry: 1,
      polygon,
      angle: 0,
      crosshatch: true,
      alternate: true,
    });
    expect(expand(settings)).to.deep.equal({ problem: 'many' });
  });

  it('templates have the size that was asked for', () => {
    fc.assert(
      fc.property(place, real(10, 1000), (centre, size) => {
        const plane = new Plane(centre);
        const corners = square(centre, size).map((corner) => plane.toFlat(corner));
        expect(apart(corners[0] ?? { x: 0, y: 0 }, corners[1] ?? { x: 0, y: 0 })).to.be.closeTo(size, 0.1);
        expect(hull(circle(centre, size).map((corner) => plane.toFlat(corner))).length).to.equal(24);
      }),
    );
  });
});

const FIGURES = [
  'distance',
  'sideStep',
  'frontStep',
  'sideOverlap',
  'angle',
  'width',
  'radius',
  'turns',
  'top',
  'turnaround',
  'trigger',
];

function inOrder(settings: PatternSettings): unknown {
  return Object.fromEntries(Object.entries(settings).toSorted(([a], [b]) => a.localeCompare(b)));
}
