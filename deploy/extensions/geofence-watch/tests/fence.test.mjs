import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, distance, fenceOf, positionIn } from '../agent/fence.mjs';

const HOME = { lat: 47, lon: 8 };
const FENCE = { radius_m: 100, height_m: 50 };

test('a degree of latitude has 111 km', () => {
  assert.ok(Math.abs(distance(HOME, { lat: 48, lon: 8 }) - 111_320) < 1);
});

test('inside, outside by distance, outside by height', () => {
  assert.equal(check(FENCE, HOME, { ...HOME, alt_rel: 10 }).inside, true);
  assert.equal(check(FENCE, HOME, { lat: 47.001, lon: 8, alt_rel: 10 }).inside, false);
  assert.deepEqual(check(FENCE, HOME, { ...HOME, alt_rel: 60 }), {
    inside: false,
    distance_m: 0,
    height_m: 60,
    margin_m: -10,
  });
});

test('without a home or a position nothing is known', () => {
  assert.equal(check(FENCE, null, { ...HOME, alt_rel: 0 }).inside, null);
  assert.equal(check(FENCE, HOME, null).inside, null);
  assert.equal(positionIn({ lat: null, lon: null }), null);
});

test('a fence that is odd is the usual one', () => {
  assert.deepEqual(fenceOf({ radius_m: -1, height_m: 'high' }), { radius_m: 300, height_m: 100 });
  assert.deepEqual(fenceOf({ radius_m: 20, height_m: 5 }), { radius_m: 20, height_m: 5 });
});
