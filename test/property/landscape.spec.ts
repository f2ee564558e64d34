import { expect } from 'chai';
import fc from 'fast-check';
import { drawnSize } from '../../bin/sim/camera/film.ts';
import { GROUND, type Rgb, SKY, yuv } from '../../bin/sim/camera/landscape/colours.ts';
import { type GroundLevels, paintLevels } from '../../bin/sim/camera/landscape/ground-levels.ts';
import { LandscapePicture } from '../../bin/sim/camera/landscape/landscape-picture.ts';
import { Smooth } from '../../bin/sim/camera/landscape/smooth.ts';
import type { Pose } from '../../bin/sim/camera/landscape/view.ts';
import { DEMO_SEED, type Landscape, makeLandscape } from '../../shared/landscape/landscape.ts';
import { EXTENT_M, PAD } from '../../shared/landscape/parts.ts';
import { LandscapePlace, SIM_HOME } from '../../shared/landscape/place.ts';
import { areaOf, corner } from '../../shared/landscape/polygon.ts';

const [WIDTH, HEIGHT] = [160, 90] as const;
const HEADING = (SIM_HOME.heading * Math.PI) / 180;
const STANDING: Pose = { e: 0, n: 0, up: 0, roll: 0, pitch: 0, yaw: HEADING };

describe('the landscape', () => {
  let land: Landscape;
  let levels: GroundLevels;
  let picture: LandscapePicture;
  const planes = {
    y: new Uint8Array(WIDTH * HEIGHT),
    u: new Uint8Array((WIDTH * HEIGHT) / 4),
    v: new Uint8Array((WIDTH * HEIGHT) / 4),
    strides: [WIDTH, WIDTH / 2, WIDTH / 2],
  } as const;
  const draw = (pose: Partial<Pose>): void => {
    for (const plane of [planes.y, planes.u, planes.v]) plane.fill(0);
    picture.draw(planes, { ...STANDING, ...pose });
  };
  /** Y, U, V at a place of the picture, 0 to 1 from left and top. */
  const colour = (across: number, down: number): readonly number[] => {
    const [x, y] = [Math.floor(across * WIDTH), Math.floor(down * HEIGHT)];
    const half = (y >> 1) * (WIDTH / 2) + (x >> 1);
    return [planes.y[y * WIDTH + x] ?? 0, planes.u[half] ?? 0, planes.v[half] ?? 0];
  };
  const near = (seen: readonly number[], wanted: Rgb, by = 22): boolean =>
    yuv(wanted).every((value, at) => Math.abs(value - (seen[at] ?? 0)) <= by);

  before(async () => {
    land = makeLandscape(DEMO_SEED);
    levels = await paintLevels(land, DEMO_SEED);
    picture = new LandscapePicture(land, levels, WIDTH, HEIGHT);
  });

  it('is the same for the same seed, and another for another', () => {
    expect(makeLandscape(DEMO_SEED)).to.deep.equal(land);
    expect(makeLandscape(DEMO_SEED + 1).fields).not.to.deep.equal(land.fields);
  });

  it('is divided into convex fields, with nothing in the way of a start', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (seed) => {
        const { fields, trees, houses, roads } = makeLandscape(seed);
        expect(fields.length).to.be.within(300, 2000);
        expect(trees.length).to.be.within(3000, 60_000);
        expect(roads.length).to.be.above(10);
        for (const { shape } of fields) {
          expect(areaOf(shape)).to.be.above(0);
          for (let at = 0; at < shape.length; at++) {
            const [[e0, n0], [e1, n1], [e2, n2]] = [
              corner(shape, at),
              corner(shape, at + 1),
              corner(shape, at + 2),
            ];
            expect((e1 - e0) * (n2 - n1) - (n1 - n0) * (e2 - e1)).to.be.least(-1e-3);
            expect(Math.max(Math.abs(e0), Math.abs(n0))).to.be.most(EXTENT_M);
          }
        }
        for (const { at } of [...trees, ...houses])
          expect(Math.hypot(at[0] - PAD.at[0], at[1] - PAD.at[1])).to.be.above(30);
      }),
      { numRuns: 8 },
    );
  });

  it('begins with the pad below, the house ahead and the sky above', () => {
    draw({});
    expect(near(colour(0.5, 0.8), GROUND.concrete), String(colour(0.5, 0.8))).to.equal(true);
    expect(near(colour(0.5, 0.01), SKY.horizon, 40), String(colour(0.5, 0.01))).to.equal(true);
    const house = colour(0.48, 0.08);
    draw({ yaw: HEADING + Math.PI });
    expect(colour(0.48, 0.08)).not.to.deep.equal(house);
    draw({ up: 40 });
    expect(near(colour(0.42, 0.95), GROUND.lawn), String(colour(0.42, 0.95))).to.equal(true);
  });

  it('rises, turns and banks with the vehicle', () => {
    const seen = [
      {},
      { up: 30 },
      { up: 30, yaw: 1 },
      { up: 30, roll: 0.5 },
      { up: 30, pitch: 0.3 },
      { up: 30, n: 60 },
    ].map((pose) => {
      draw(pose);
      return Buffer.from(planes.y).toString('base64');
    });
    expect(new Set(seen).size).to.equal(seen.length);
    // Right wing down: the horizon falls to the left, so there is sky on that side.
    draw({ up: 30, roll: 0.5 });
    const isSky = (across: number): boolean => (colour(across, 0.12)[1] ?? 0) > 126;
    expect([isSky(0.06), isSky(0.94)]).to.deep.equal([true, false]);
  });

  it('is a whole picture from anywhere, held in any way', () => {
    const anything = fc.oneof(
      fc.double(),
      fc.constantFrom(Number.NaN, Infinity, -Infinity, 0, -0, 2 ** 31, 1e300, 20_000, -20_000),
    );
    const place = fc.oneof(fc.double({ min: -EXTENT_M * 2, max: EXTENT_M * 2, noNaN: true }), anything);
    const angle = fc.oneof(
      fc.double({ min: -7, max: 7, noNaN: true }),
      fc.constantFrom(Math.PI, -Math.PI / 2),
      anything,
    );
    const up = fc.oneof(fc.double({ min: -10, max: 400, noNaN: true }), anything);
    fc.assert(
      fc.property(fc.record({ e: place, n: place, up, roll: angle, pitch: angle, yaw: angle }), (pose) => {
        draw(pose);
        // Limited range: what is 0 has not been drawn.
        expect(Math.min(...planes.y), 'Y').to.be.least(16);
        expect(Math.max(...planes.y), 'Y').to.be.most(235);
        for (const plane of [planes.u, planes.v]) {
          expect(Math.min(...plane), 'U and V').to.be.least(40);
          expect(Math.max(...plane), 'U and V').to.be.most(200);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('is drawn smaller than it is shown, in the same shape', () => {
    fc.assert(
      fc.property(fc.integer({ min: 32, max: 1920 }), fc.integer({ min: 32, max: 1080 }), (width, height) => {
        const drawn = drawnSize({ width: 2 * width, height: 2 * height });
        expect([drawn.width % 2, drawn.height % 2]).to.deep.equal([0, 0]);
        expect(drawn.width).to.be.within(2, 2 * width);
        expect(drawn.height).to.be.within(2, 2 * height);
        expect(drawn.width * drawn.height).to.be.most(800 * 450 * 1.1);
      }),
    );
  });
});

describe('where the landscape lies', () => {
  const north = (metres: number) => ({ lat: SIM_HOME.lat + metres / 111_319, lon: SIM_HOME.lon });

  it('is the place of its map for the demo, whatever home says', () => {
    const place = new LandscapePlace();
    expect(place.locate(north(100), null).n).to.be.closeTo(100, 0.1);
    expect(place.locate(north(300), north(200)).n).to.be.closeTo(300, 0.1);
  });

  it('is the first home of another vehicle, and stays there', () => {
    const place = new LandscapePlace();
    const home = { lat: 47.4, lon: 8.5 };
    const away = { lat: 47.401, lon: 8.5 };
    expect(place.locate(away, null)).to.deep.equal({ e: 0, n: 0 });
    expect(place.locate(away, home).n).to.be.closeTo(111.3, 0.1);
    expect(place.locate(away, away).n).to.be.closeTo(111.3, 0.1);
    expect(place.locate({ lat: -20, lon: 30 }, { lat: -20, lon: 30 })).to.deep.equal({ e: 0, n: 0 });
  });

  it('takes the short way across the antimeridian, and is a number at the poles', () => {
    const place = new LandscapePlace();
    place.locate({ lat: 0, lon: 179.999 }, { lat: 0, lon: 179.999 });
    expect(place.locate({ lat: 0, lon: -179.999 }, null).e).to.be.closeTo(222.6, 0.1);
    const { e, n } = new LandscapePlace().locate({ lat: 90, lon: 0 }, { lat: 90, lon: 12 });
    expect([e, n].every(Number.isFinite)).to.equal(true);
  });
});

describe('what is told a few times a second', () => {
  it('is followed at once at first, then without jumps, and carried on for a second at most', () => {
    fc.assert(
      fc.property(fc.double({ min: -15, max: 15, noNaN: true }), (speed) => {
        const value = new Smooth(0.12);
        value.tell(0, speed, 0);
        let last = value.value;
        for (let turn = 1; turn <= 120; turn++) {
          const at = turn / 30;
          if (turn % 6 === 0 && at <= 2) value.tell(speed * at, speed, at);
          value.step(at);
          if (at <= 2)
            expect(Math.abs(value.value - last - speed / 30)).to.be.most(Math.abs(speed) * 0.02 + 1e-6);
          last = value.value;
        }
        expect(value.value).to.be.closeTo(speed * 3, Math.abs(speed) * 0.2 + 0.01);
      }),
    );
  });

  it('turns the short way, and is elsewhere at once when it is far away', () => {
    const yaw = new Smooth(0.14, true);
    yaw.tell(3.1, 0, 0);
    yaw.tell(-3.1, 0, 0.1);
    yaw.step(0.15);
    expect(Math.cos(yaw.value)).to.be.below(-0.99);
    const n = new Smooth(0.12);
    n.tell(0, 0, 0);
    n.tell(500, 0, 0.1);
    expect(n.value).to.equal(500);
    n.tell(Number.NaN, 0, 0.2);
    n.step(0.3);
    expect(n.value).to.be.closeTo(500, 0.01);
  });
});
