import type { MissionItem } from '../flight/mission.ts';

/**
 * How ArduPilot packs a mission item into 15 bytes of storage and tells it back (AP_Mission.cpp, mavlink_int_to_mission_cmd and
 * mission_cmd_to_mavlink_int). One line a command that a mission may have: its MAV_CMD, `@` where it keeps the place, then what
 * becomes of param1, param2 and so on, to 7. What is not in its line is told as 0.
 *
 * u8 i8 u16 i16: cut to a whole number, which wraps. byte: u8 that stops at 255. f: float32. h: float16. on: 0 or 1. sign: 1 or -1.
 * r16: a radius, whole m, its sign kept. turns, radius: of a circle, a byte each. cm: whole cm, 16 bits. odd: its lowest bit. to2:
 * always 2, MAV_MOUNT_MODE_MAVLINK_TARGETING. aN: i16 if no more than N. time: u16, bounded.
 */
const TABLE = `
16 @ u16
17 @ - - r16
18 @ turns - radius on
19 @ u16 - sign on
20
21 @ u16 - - sign
22 @ u16
30 @ u16
31 @ - r16 - on
82 @ u16
83 f f u8
84 @
85 @ u16
92 @ u16
93 f i8 i8 i8
94 @ cm
112 f
114 f
115 f f i8 u8
177 u16 i16
178 u8 f f
179 @ u16
181 u8 u8
182 u8 i16 f
183 u8 u16
184 u8 u16 i16 f
188 @
189 @
191 @
193 u16
194 u16
195 @ u16
197 u16
201 @ u16
202 u8 u16 u8 u16 u8 u8 f
203 u8 u8 i8 u8 u8 u8
205 f f f - - - to2
206 f - u8
207 u16
208 u16
210 u16
211 u8 u8
212 u16
213 f f u8
215 u16
216 u16
217 u16 f f f
218 u16 u8
222 u16 f f f
223 on on cm odd
531 u8 f
532 u8 f
534 u8 u8 u8
600 u16
601 u16 i16
1000 i8 i16 i8 i8 u8 - u8
2000 u8 f u16 u16
2001 u16
2500 u8
2501 u8
3000 u8
42600 u8 u8 f f
42702 u8 u8 h h i16 i16
42703 time a180 a90 a360 i16
`;

interface Packing {
  readonly isPlace: boolean;
  readonly ways: readonly string[];
}

const PACKINGS: ReadonlyMap<number, Packing> = new Map(
  TABLE.trim()
    .split('\n')
    .map((line) => {
      const [command, ...words] = line.split(' ');
      return [Number(command), { isPlace: words[0] === '@', ways: words.filter((word) => word !== '@') }];
    }),
);

/** A waypoint of a plane has a radius of acceptance and a distance to pass by, a byte each, and no time to wait. */
const PLANE_WAYPOINT: Packing = { isPlace: true, ways: ['-', 'byte', 'byte'] };
const WAYPOINT = 16;
const SPLINE_WAYPOINT = 82;

/** Whose param4 may be NaN (sanity_check_params); param3 of a VTOL landing too. */
const NAN_PARAM4: ReadonlySet<number> = new Set([16, 17, 21, 22, 84, 85]);
const VTOL_LAND = 85;

export function mayBeNaN(command: number, param: number): boolean {
  return (param === 4 && NAN_PARAM4.has(command)) || (param === 3 && command === VTOL_LAND);
}

/** Undefined: no item of a mission. */
export function packingOf(command: number, isPlane: boolean): Packing | undefined {
  if (isPlane && command === SPLINE_WAYPOINT) return undefined;
  return isPlane && command === WAYPOINT ? PLANE_WAYPOINT : PACKINGS.get(command);
}

/** The item as it is told back. Every mission item goes on by itself. */
export function packed(item: MissionItem, { isPlace, ways }: Packing): MissionItem {
  const { command, p1, p2, p3, p4, alt } = item;
  const [x, y] = [Math.round(item.lat * 1e7), Math.round(item.lon * 1e7)];
  const told = [p1, p2, p3, p4, x, y, alt].map((value, n) => pack(ways[n] ?? '-', value));
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0] = told;
  const params = { command, p1: a, p2: b, p3: c, p4: d, autocontinue: 1 };
  if (!isPlace) return { ...params, lat: e / 1e7, lon: f / 1e7, alt: g, frame: 0 };
  const { lat, lon } = item;
  return {
    ...params,
    lat,
    lon,
    alt: Math.fround(Math.trunc(Math.fround(alt * 100)) * Math.fround(0.01)),
    frame: frameOf(item.frame),
  };
}

/** A MAV_FRAME as it is told. */
export function frameOf(frame: number): number {
  if (frame === 3 || frame === 6) return 3;
  return frame === 10 || frame === 11 ? 10 : 0;
}

function pack(way: string, value: number): number {
  switch (way) {
    case 'u8':
      return whole(value) & 0xff;
    case 'i8':
      return (whole(value) << 24) >> 24;
    case 'u16':
      return whole(value) & 0xffff;
    case 'i16':
      return (whole(value) << 16) >> 16;
    case 'byte':
      return Math.min(255, whole(value) & 0xffff);
    case 'f':
      return value;
    case 'h':
      return half(value);
    case 'on':
      return value > 0 ? 1 : 0;
    case 'odd':
      return whole(value) & 1;
    case 'sign':
      return value < 0 ? -1 : 1;
    case 'r16':
      return Math.sign(value) * (whole(Math.abs(value)) & 0xffff);
    case 'cm':
      return Math.fround((whole(Math.fround(value * 100)) & 0xffff) * Math.fround(0.01));
    case 'time':
      return Math.min(65_535, Math.max(0, whole(value)));
    case 'to2':
      return 2;
    case 'turns':
      return value > 0 && value < 1 ? Math.trunc(value * 256) / 256 : Math.min(255, whole(value)) & 0xff;
    case 'radius':
      return Math.sign(value) * radius(Math.abs(value));
    case '-':
      return 0;
    default: {
      const most = Number(way.slice(1));
      return Math.abs(value) <= most ? Math.trunc(value) : 0;
    }
  }
}

/** A byte of m, from 256 on of tens of m. */
function radius(value: number): number {
  return value <= 255 ? Math.trunc(value) : Math.trunc(Math.min(255, value / 10)) * 10;
}

/** As a C cast on x86 and ARM does for values in range of an int. */
function whole(value: number): number {
  return Math.trunc(value) | 0;
}

/** The nearest float16: 11 bits of mantissa. */
function half(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const step = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(value)))) - 10);
  return Math.sign(value) * Math.round(Math.abs(value) / step) * step;
}
