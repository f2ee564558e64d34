import { expect } from 'chai';
import fc from 'fast-check';
import { isLarger } from '../../shared/mission/fence-size.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';

const METRE = 1 / 111_195;
const AT = { lat: 47.39, lon: 8.54 };
const EAST = METRE / Math.cos((AT.lat * Math.PI) / 180);

function item(command: number, param1: number, north: number, east: number): MissionItem {
  const [x, y] = [AT.lat + north * METRE, AT.lon + east * EAST];
  return { seq: 0, frame: 0, command, param1, param2: 0, param3: 0, param4: 0, x, y, z: 0, autocontinue: 1 };
}
const circle = (radius: number, north = 0, east = 0): MissionItem[] => [item(5003, radius, north, east)];
const hole = (radius: number, north = 0, east = 0): MissionItem[] => [item(5004, radius, north, east)];
const polygon = (...corners: (readonly [number, number])[]): MissionItem[] =>
  corners.map(([north, east]) => item(5001, corners.length, north, east));
const square = (half: number): MissionItem[] =>
  polygon([half, half], [half, -half], [-half, -half], [-half, half]);
/** A square that is bent inwards from the north. */
const bent = polygon([100, 100], [-50, 0], [100, -100], [-100, -100], [-100, 100]);

describe('a fence in the place of another', () => {
  const table: readonly (readonly [
    what: string,
    held: MissionItem[],
    wanted: MissionItem[],
    larger: boolean,
  ])[] = [
    ['the same', circle(100), circle(100), false],
    ['a smaller circle', circle(100), circle(50), false],
    ['a larger circle', circle(100), circle(500_000), true],
    ['a circle that was moved', circle(100), circle(100, 20), true],
    ['none', circle(100), [], true],
    ['the first one', [], circle(100), false],
    ['one more to stay in', circle(100), [...circle(100), ...square(50)], false],
    ['one less to stay in', [...circle(100), ...square(50)], circle(100), true],
    ['a square in a circle', circle(100), square(60), false],
    ['a square whose corners leave the circle', circle(100), square(80), true],
    ['a circle in a square', square(100), circle(99), false],
    ['a circle beyond a square', square(100), circle(101), true],
    ['a triangle whose side leaves a bent fence', bent, polygon([90, 95], [90, -95], [-90, 0]), true],
    ['a hole more', circle(100), [...circle(100), ...hole(10)], false],
    ['a hole less', [...circle(100), ...hole(10)], circle(100), true],
    ['a hole that is smaller', [...circle(100), ...hole(10)], [...circle(100), ...hole(5)], true],
    ['only holes, then an area', hole(10), [...circle(100), ...hole(20)], false],
  ];
  for (const [what, held, wanted, larger] of table)
    it(`${what}: ${larger ? 'larger' : 'not larger'}`, () => {
      expect(isLarger(wanted, held)).to.equal(larger);
    });

  it('circles and squares around one place by their sizes', () => {
    const size = fc.integer({ min: 5, max: 5000 });
    fc.assert(
      fc.property(size, size, fc.boolean(), (held, wanted, round) => {
        const shape = round ? circle : square;
        expect(isLarger(shape(wanted), shape(held))).to.equal(wanted > held);
      }),
    );
  });
});
