import type { StubHub } from './stub-hub.ts';

const DAY_MS = 24 * 3600 * 1000;
const NEWEST = Date.UTC(2026, 4, 17, 9, 12);
export const HOSTILE = '<img src=x onerror=alert(1)>';

/** Flights for the page, newest first; the second has no track, and is of a node with a hostile name. */
export function answerFlights(hub: StubHub): void {
  const flights = Array.from({ length: 9 }, (_, n) => ({
    id: 100 - n,
    node: n === 1 ? HOSTILE : `node-0000${n % 4}`,
    flight: `20260517T09120${n}.000Z-1`,
    received_at: NEWEST,
    started_at: NEWEST - Math.floor(n / 3) * DAY_MS - (n % 3) * 4_000_000,
    ended_at: NEWEST,
    armed_s: 900 + n * 130,
    airborne_s: 850 + n * 100,
    distance_m: 1500 + n * 420,
    max_height_m: 40 + n,
    max_speed_mps: 12.4,
    max_speed_ms: 12.4,
    battery: { id: null, used_mah: 2140, start_v: 16.7, end_v: 14.9 },
    pilots: n % 2 === 0 ? ['ada'] : [],
    findings: n % 4 === 2 ? 2 : 0,
    worst: n % 4 === 2 ? 'critical' : null,
  }));
  hub.answers.set('GET /v1/flights', { flights, next: '1-1' });
  const coordinates = Array.from({ length: 200 }, (_, n) => [
    8 + Math.sin(n / 16) * 0.004 * (1 + n / 300),
    47 + Math.cos(n / 21) * 0.003,
    n % 60,
  ]);
  const more = {
    vehicle: 'ArduPilot copter 4.6.2',
    log: '20260517T091200.000Z.tlog',
    files: [
      {
        kind: 'tlogs',
        name: '20260517T091200.000Z.tlog',
        url: 'https://store.example/flights/kite/tlogs/20260517T091200.000Z.tlog',
        bytes: 4_200_000,
      },
      { kind: 'recordings', name: '20260517T091203.mp4', url: null, bytes: null },
      { kind: 'flight-logs', name: HOSTILE, url: 'javascript:alert(1)', bytes: 7 },
    ],
    modes: [
      { name: 'LOITER', from_s: 0, to_s: 120 },
      { name: 'AUTO', from_s: 120, to_s: 820 },
      { name: 'RTL', from_s: 820, to_s: 900 },
    ],
    findings: [
      {
        severity: 'critical',
        text: 'The battery had 13.9 V at the least. Below 14.0 V (BATT_CRT_VOLT) it is critical.',
        at_s: 812,
      },
      { severity: 'warning', text: HOSTILE, at_s: null },
    ],
  };
  hub.answers.set('GET /v1/flights/100', {
    ...flights[0],
    ...more,
    track: {
      type: 'Feature',
      geometry: { type: 'LineString', coordinates },
      properties: { times_s: [], heights_m: [] },
    },
  });
  hub.answers.set('GET /v1/flights/99', {
    ...flights[1],
    ...more,
    pilots: [HOSTILE],
    vehicle: HOSTILE,
    track: null,
  });
  const due = { battery: null, flights_left: null, done_at: null, done_by: null, note: null };
  hub.answers.set('GET /v1/airframes', {
    airframes: [
      {
        id: 'node-00000',
        name: 'Kite 0',
        flights: 41,
        hours: 12.44,
        maintenance: [{ ...due, rule: 'propellers', due: false, hours_left: 37.6, days_left: 214 }],
      },
      {
        id: 'node-00001',
        name: 'Kite 1',
        flights: 212,
        hours: 63.1,
        maintenance: [{ ...due, rule: 'propellers', due: true, hours_left: -13.1, days_left: 12 }],
      },
      { id: HOSTILE, name: null, flights: 1, hours: 0.2, maintenance: [] },
    ],
    next: 'node-00001',
  });
  hub.answers.set('POST /v1/airframes/node-00001/maintenance', {});
}
