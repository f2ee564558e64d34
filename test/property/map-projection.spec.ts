import { expect } from 'chai';
import fc from 'fast-check';
import { Glide } from '../../residual/web/src/map/glide.ts';
import {
  bearing,
  carry,
  distance,
  Projection,
  turn,
  type View,
  viewOf,
} from '../../residual/web/src/map/projection.ts';

const SIZE = { width: 800, height: 600 } as const;

const place = fc.record({
  lat: fc.double({ min: -80, max: 80, noNaN: true }),
  lon: fc.double({ min: -180, max: 179.999, noNaN: true }),
});
const view = fc.record({
  lat: fc.double({ min: -80, max: 80, noNaN: true }),
  lon: fc.double({ min: -180, max: 179.999, noNaN: true }),
  zoom: fc.double({ min: 3, max: 21, noNaN: true }),
  bearing: fc.double({ min: -720, max: 720, noNaN: true }),
});
const point = fc.record({
  x: fc.double({ min: 0, max: SIZE.width, noNaN: true }),
  y: fc.double({ min: 0, max: SIZE.height, noNaN: true }),
});
const projectionOf = (of: View): Projection => new Projection(of, SIZE.width, SIZE.height);
const apart = (a: { x: number; y: number }, b: { x: number; y: number }): number =>
  Math.hypot(a.x - b.x, a.y - b.y);

describe('the projection of the map', () => {
  it('a point of the picture is a place, and that place is that point, however the map is turned', () => {
    fc.assert(
      fc.property(view, point, (of, at) => {
        const projection = projectionOf({ ...of, lat: of.lat * 0.9 });
        expect(apart(projection.toScreen(projection.toPlace(at)), at)).to.be.below(0.01);
      }),
    );
  });

  it('the middle of the map is its place, and what its bearing points to is above it', () => {
    fc.assert(
      fc.property(view, (of) => {
        const projection = projectionOf(of);
        const middle = { x: SIZE.width / 2, y: SIZE.height / 2 };
        expect(apart(projection.toScreen(of), middle)).to.be.below(0.01);
        const above = projection.toPlace({ x: middle.x, y: middle.y - 5 });
        // Of three pixels at zoom 3 the great circle is another line than the map's.
        if (of.zoom > 8) expect(Math.abs(turn(bearing(of, above), of.bearing))).to.be.below(0.5);
      }),
    );
  });

  it('a place is brought to any point of the picture without being moved', () => {
    fc.assert(
      fc.property(view, point, point, (of, from, to) => {
        const before = projectionOf({ ...of, lat: of.lat * 0.7, zoom: Math.max(6, of.zoom) });
        const kept = before.toPlace(from);
        const after = projectionOf(before.viewWith(kept, to));
        expect(apart(after.toScreen(kept), to)).to.be.below(0.05);
        expect(after.bearing).to.equal(of.bearing);
      }),
    );
  });

  it('both sides of the antimeridian are beside each other', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.001, max: 0.4, noNaN: true }),
        fc.integer({ min: 0, max: 359 }),
        (off, up) => {
          const projection = projectionOf({ lat: 10, lon: 180 - off, zoom: 9, bearing: up });
          const east = projection.toScreen({ lat: 10, lon: -180 + off });
          expect(apart(east, projection.toScreen({ lat: 10, lon: 180 - off }))).to.be.closeTo(
            (2 * off * projection.worldPx) / 360,
            0.01,
          );
          const all = viewOf(
            [
              { lat: 10, lon: 180 - off },
              { lat: 10, lon: -180 + off },
            ],
            SIZE.width,
            SIZE.height,
          );
          expect(Math.abs(turn(180, all?.lon ?? 0))).to.be.below(1e-6);
        },
      ),
    );
  });

  it('what was drawn for one view is carried to where it belongs in another', () => {
    const near = fc.record({
      pan: point,
      zoom: fc.double({ min: -1, max: 1, noNaN: true }),
      bearing: fc.double({ min: -180, max: 180, noNaN: true }),
    });
    fc.assert(
      fc.property(view, near, point, (of, { pan, zoom, bearing: turned }, at) => {
        const drawn = projectionOf({ ...of, lat: of.lat * 0.7, zoom: Math.max(6, Math.min(20, of.zoom)) });
        const live = projectionOf({
          ...drawn.toPlace(pan),
          zoom: drawn.view.zoom + zoom,
          bearing: drawn.bearing + turned,
        });
        const [dx = 0, dy = 0, degrees = 0, scale = 1] = (carry(drawn, live).match(/-?[\d.]+/g) ?? []).map(
          Number,
        );
        const a = (degrees * Math.PI) / 180;
        const [x, y] = [at.x - SIZE.width / 2, at.y - SIZE.height / 2];
        const carried = {
          x: SIZE.width / 2 + dx + scale * (x * Math.cos(a) - y * Math.sin(a)),
          y: SIZE.height / 2 + dy + scale * (x * Math.sin(a) + y * Math.cos(a)),
        };
        expect(apart(carried, live.toScreen(drawn.toPlace(at)))).to.be.below(0.1);
      }),
    );
  });

  it('a view of places has all of them in it', () => {
    fc.assert(
      fc.property(fc.array(place, { minLength: 1, maxLength: 8 }), (places) => {
        // So near that the world is not too small for them.
        const near = places.map(({ lat, lon }) => ({ lat: lat / 4, lon: lon / 8 }));
        const found = viewOf(near, SIZE.width, SIZE.height);
        if (found === null) throw new Error('no view');
        for (const each of near)
          expect(projectionOf(found).holds(projectionOf(found).toScreen(each))).to.equal(true);
      }),
    );
  });
});

describe('the vehicle between two messages', () => {
  it('is on the way between the two, ends where it was told to be, and turns the shorter way', () => {
    fc.assert(
      fc.property(
        place,
        fc.integer({ min: 0, max: 359 }),
        fc.integer({ min: 0, max: 359 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (from, first, second, part) => {
          const to = { lat: from.lat, lon: turn(0, from.lon + 0.0002) };
          const glide = new Glide();
          glide.tell({ place: from, heading: first }, 1000);
          glide.tell({ place: to, heading: second }, 1100);
          const way = distance(from, to);
          const at = glide.at(1100 + part * 100);
          if (at === null) throw new Error('nowhere');
          expect(distance(from, at.place) + distance(at.place, to)).to.be.closeTo(way, 0.01);
          const left = Math.abs(turn(at.heading ?? 0, second));
          expect(left).to.be.at.most(Math.abs(turn(first, second)) + 1e-6);
          expect(glide.at(2000)).to.deep.equal({ place: to, heading: second });
          expect(glide.moves(2000)).to.equal(false);
        },
      ),
    );
  });

  it('is there at once after a jump or a silence, and nowhere without a place', () => {
    const glide = new Glide();
    expect(glide.at(0)).to.equal(null);
    const home = { place: { lat: 47, lon: 8 }, heading: null };
    const far = { place: { lat: 48, lon: 8 }, heading: 10 };
    glide.tell(home, 1000);
    expect(glide.at(1000)).to.deep.equal(home);
    glide.tell(far, 1100);
    expect(glide.at(1100)).to.deep.equal(far);
    glide.tell({ ...far, place: { lat: 48.0001, lon: 8 } }, 9000);
    expect(glide.at(9000)?.place.lat).to.equal(48.0001);
    glide.tell(null, 9100);
    expect(glide.at(9100)).to.equal(null);
  });
});
