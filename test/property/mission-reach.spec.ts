import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '../../shared/errors.ts';
import { metresBetween } from '../../shared/flight/seen.ts';
import { FenceLines } from '../../shared/mission/fence-lines.ts';
import { checkReach, checkReachOf, type ReachFacts, reachText } from '../../shared/mission/reach.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';

const HERE = { lat: 47.39, lon: 8.54 };
const KNOWN: ReachFacts = {
  maxM: 2000,
  here: HERE,
  home: { ...HERE, alt: 584 },
  px4: false,
  param: () => null,
  fence: null,
};
const item = (lat: number, lon: number, z: number, more: Partial<MissionItem> = {}): MissionItem => ({
  seq: 1,
  frame: 3,
  command: 16,
  param1: 0,
  param2: 0,
  param3: 0,
  param4: 0,
  x: lat,
  y: lon,
  z,
  autocontinue: 1,
  ...more,
});
function boundOf(check: () => void): unknown {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).to.equal('E_TOO_FAR');
    return error.extras['bound'];
  }
}
const judged = (items: MissionItem[], known: Partial<ReachFacts> = {}): unknown =>
  boundOf(() => checkReachOf('mission', items, { ...KNOWN, ...known }));

describe('a mission goes nowhere where goto may not', () => {
  const fenced = (params: Record<string, number>): Partial<ReachFacts> => ({
    param: (name) => params[name] ?? null,
  });
  const table: readonly (readonly [string, MissionItem[], Partial<ReachFacts>, unknown])[] = [
    ['near', [item(47.391, 8.541, 30)], {}, null],
    ['18 km away', [item(47.391, 8.541, 30), item(47.55, 8.54, 30, { seq: 2 })], {}, 'max_goto_m'],
    ['another hemisphere', [item(-35.36, 149.16, 30)], {}, 'max_goto_m'],
    ['any distance', [item(-35.36, 149.16, 30)], { maxM: 0 }, null],
    ['20 m above the sea, where home is at 584 m', [item(47.391, 8.541, 20, { frame: 0 })], {}, 'ground'],
    ['600 m above the sea there', [item(47.391, 8.541, 600, { frame: 0 })], {}, null],
    ['below home', [item(47.391, 8.541, -20)], {}, 'ground'],
    ['below the terrain', [item(47.391, 8.541, -20, { frame: 10 })], {}, 'ground'],
    ['a submarine', [item(47.391, 8.541, -20)], { flies: false }, null],
    [
      'beyond the radius of the fence',
      [item(47.395, 8.54, 30)],
      fenced({ FENCE_ENABLE: 1, FENCE_TYPE: 2, FENCE_RADIUS: 300 }),
      'fence_radius',
    ],
    [
      'above the fence',
      [item(47.391, 8.54, 130)],
      fenced({ FENCE_ENABLE: 1, FENCE_TYPE: 1, FENCE_ALT_MAX: 100 }),
      'fence_height',
    ],
    ['what looks there goes nowhere', [item(47.55, 8.54, 0, { command: 195 })], {}, null],
    ['what has no place', [item(0, 0, 0, { frame: 2, command: 178 })], {}, null],
    ['here', [item(0, 0, 20, { command: 22 })], {}, null],
    ['a vehicle whose place is not known is at home', [item(47.55, 8.54, 30)], { here: null }, 'max_goto_m'],
    ['a vehicle that is nowhere', [item(47.391, 8.541, 30)], { here: null, home: null }, 'max_goto_m'],
  ];
  for (const [what, items, known, bound] of table)
    it(`${what}: ${JSON.stringify(bound)}`, () => {
      expect(judged(items, known)).to.equal(bound);
    });

  describe('on its ways', () => {
    const around = (command: number, corners: readonly (readonly [number, number])[]): MissionItem[] =>
      corners.map(([lat, lon], seq) =>
        item(HERE.lat + lat / 1000, HERE.lon + lon / 1000, 0, { seq, command, param1: corners.length }),
      );
    const circle = (command: number, lat: number, lon: number, radius: number): MissionItem =>
      item(HERE.lat + lat / 1000, HERE.lon + lon / 1000, 0, { command, param1: radius });
    const at = (lat: number, lon: number, more: Partial<MissionItem> = {}): MissionItem =>
      item(HERE.lat + lat / 1000, HERE.lon + lon / 1000, 30, more);
    const areas = (fence: MissionItem[], more: Record<string, number> = {}): Partial<ReachFacts> => ({
      ...fenced({ FENCE_ENABLE: 1, FENCE_TYPE: 4, ...more }),
      fence,
    });
    // The vehicle stands in the one arm of a U; the other is 4/1000 of a degree to the east.
    const u = around(5001, [
      [-1, -1],
      [5, -1],
      [5, 1],
      [0, 1],
      [0, 3],
      [5, 3],
      [5, 5],
      [-1, 5],
    ]);
    const wall = around(5002, [
      [2, -3],
      [2.1, -3],
      [2.1, 3],
      [2, 3],
    ]);
    const halves = [
      ...around(5001, [
        [-1, -1],
        [5, -1],
        [5, 1],
        [-1, 1],
      ]),
      circle(5003, 2, 3, 100),
    ];
    const ways: readonly (readonly [string, MissionItem[], Partial<ReachFacts>, unknown])[] = [
      ['over the gap of a U', [at(4, 0), at(4, 4)], areas(u), 'fence_area'],
      ['around it', [at(-0.5, 0), at(-0.5, 4), at(4, 4)], areas(u), null],
      ['through a wall', [at(4, 0)], areas(wall), 'fence_area'],
      ['beside it', [at(0, 4), at(4, 4), at(4, 0)], areas(wall), null],
      ['through a circle', [at(4, 0)], areas([circle(5004, 2, 0, 20)]), 'fence_area'],
      ['a look beyond it', [at(1, 0), at(4, 0, { command: 195 })], areas(wall), null],
      ['a marker beyond it', [at(1, 0), at(4, 0, { command: 189 })], areas(wall), null],
      [
        'a mission that begins beyond it',
        [at(4, 0)],
        { ...areas(u), here: { lat: 47.395, lon: 8.542 } },
        null,
      ],
      ['out of one of two', [at(2, 2.5)], areas(halves), 'fence_area'],
      ['from one into the other', [at(2, 0), at(2, 2.5)], areas(halves, { FENCE_OPTIONS: 2 }), 'fence_area'],
    ];
    for (const [what, items, known, bound] of ways)
      it(`${what}: ${JSON.stringify(bound)}`, () => {
        expect(judged(items, known)).to.equal(bound);
      });

    it('is refused where any point of a way would be', () => {
      const spot = fc.tuple(fc.integer({ min: -40, max: 60 }), fc.integer({ min: -40, max: 60 }));
      fc.assert(
        fc.property(spot, spot, fc.constantFrom(u, wall, halves), fc.boolean(), (from, to, fence, union) => {
          const lines = new FenceLines(fence, HERE, union);
          const place = (part: number): { readonly lat: number; readonly lon: number } => ({
            lat: HERE.lat + (from[0] + (to[0] - from[0]) * part) / 10_000,
            lon: HERE.lon + (from[1] + (to[1] - from[1]) * part) / 10_000,
          });
          const points = Array.from({ length: 101 }, (_, index) => place(index / 100));
          if (points.some((point) => lines.isBroken(null, point)))
            expect(lines.isBroken(place(0), place(1))).to.equal(true);
        }),
        { numRuns: 500 },
      );
    });
  });

  it('an upload may come before the vehicle has a position; the start may not', () => {
    const nowhere = { ...KNOWN, here: null, home: null };
    const items = [item(47.391, 8.541, 30)];
    expect(boundOf(() => checkReachOf('mission', items, nowhere, true))).to.equal(null);
    expect(boundOf(() => checkReachOf('missionStart', items, nowhere))).to.equal('max_goto_m');
    expect(boundOf(() => checkReachOf('mission', [item(1, 1, -20)], nowhere, true))).to.equal('ground');
  });

  it('refuses each place that goto refuses, wherever in the list it is', () => {
    const place = fc.record({
      lat: fc.double({ min: 47.3, max: 47.5, noNaN: true }),
      lon: fc.double({ min: 8.4, max: 8.7, noNaN: true }),
      alt: fc.double({ min: 1, max: 200, noNaN: true }),
    });
    const limits = fc.record({
      FENCE_ENABLE: fc.constantFrom(0, 1),
      FENCE_TYPE: fc.nat(15),
      FENCE_RADIUS: fc.integer({ min: 50, max: 9000 }),
      FENCE_ALT_MAX: fc.integer({ min: 10, max: 150 }),
      FENCE_ALT_MIN: fc.integer({ min: -10, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 8 }), limits, (places, params) => {
        const known = { ...KNOWN, ...fenced(params) };
        const items = places.map(({ lat, lon, alt }, index) => item(lat, lon, alt, { seq: index + 1 }));
        const refused = places.some((goal) => boundOf(() => checkReach('goto', goal, known)) !== null);
        expect(boundOf(() => checkReachOf('mission', items, known)) !== null).to.equal(refused);
      }),
    );
  });

  it('is summed up by the farthest place, the lowest height and the fence', () => {
    const items = [item(47.391, 8.541, 30), item(47.55, 8.54, 20, { seq: 2, frame: 0 })];
    const km = Math.ceil(metresBetween(HERE, { lat: 47.55, lon: 8.54 }) / 1000);
    const text = reachText(items, {
      ...KNOWN,
      ...fenced({ FENCE_ENABLE: 1, FENCE_TYPE: 2, FENCE_RADIUS: 300 }),
    });
    expect(text).to.match(
      new RegExp(
        `^Farthest from the vehicle: ${km} km \\(item 2\\)\\. Lowest: -564 m above home \\(item 2\\), below the ground\\.`,
      ),
    );
    expect(text).to.include("Outside of the vehicle's fence: item 2:");
    expect(reachText([], KNOWN)).to.equal('');
  });
});
