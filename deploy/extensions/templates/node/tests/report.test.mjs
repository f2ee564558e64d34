import assert from 'node:assert/strict';
import { test } from 'node:test';
import { report } from '../agent/report.mjs';

test('knows nothing without samples', () => {
  assert.deepEqual(report([]), { remaining: null, minutes_left: null });
});

test('says how long the battery lasts if nothing changes', () => {
  const samples = [
    { at: 0, remaining: 60 },
    { at: 60, remaining: 50 },
  ];
  assert.deepEqual(report(samples), { remaining: 50, minutes_left: 5 });
});
