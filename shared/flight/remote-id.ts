import { keysOf } from '../member.ts';

/** Remote ID (ASTM F3411, ASD-STAN 4709-002) as OpenDroneID carries it in MAVLink: https://mavlink.io/en/services/opendroneid.html */

/** Degrees; m above the WGS 84 ellipsoid, null: not known. */
export interface OperatorPlace {
  readonly lat: number;
  readonly lon: number;
  readonly alt: number | null;
}

/** By name: MAV_ODID_CLASSIFICATION_TYPE, MAV_ODID_CATEGORY_EU, MAV_ODID_CLASS_EU. */
const CLASSIFICATIONS = {
  undeclared: [0, 0, 0],
  eu: [1, 0, 0],
  'eu-open': [1, 1, 0],
  'eu-open-c0': [1, 1, 1],
  'eu-open-c1': [1, 1, 2],
  'eu-open-c2': [1, 1, 3],
  'eu-open-c3': [1, 1, 4],
  'eu-open-c4': [1, 1, 5],
  'eu-specific': [1, 2, 0],
  'eu-specific-c5': [1, 2, 6],
  'eu-specific-c6': [1, 2, 7],
  'eu-certified': [1, 3, 0],
} as const;

export type Classification = keyof typeof CLASSIFICATIONS;
export const CLASSIFICATION_NAMES = keysOf(CLASSIFICATIONS);

/** @returns type, category and class, as in OPEN_DRONE_ID_SYSTEM */
export function classOf(name: Classification): readonly [type: number, category: number, euClass: number] {
  return CLASSIFICATIONS[name];
}

const PRINTABLE = /^[ -~]*$/;
/** An EU operator number (16 characters) with the three that its holder alone may know: they are not to be sent. */
const WITH_SECRET = /^[A-Z]{3}[A-Za-z0-9]{13}-/;

/** At most 20 bytes of ASCII, and no EU number with its secret part. */
export function isOperatorId(text: string): boolean {
  return text.length <= 20 && PRINTABLE.test(text) && !WITH_SECRET.test(text);
}

/** At most 23 bytes of ASCII. */
export function isSelfId(text: string): boolean {
  return text.length <= 23 && PRINTABLE.test(text);
}

/** @param text `lat,lon` or `lat,lon,alt` @returns null for anything else */
export function parseOperatorPlace(text: string): OperatorPlace | null {
  if (!/^-?\d{1,2}(?:\.\d{1,9})?,-?\d{1,3}(?:\.\d{1,9})?(?:,-?\d{1,5}(?:\.\d{1,3})?)?$/.test(text))
    return null;
  const [lat = NaN, lon = NaN, alt = null] = text.split(',').map(Number);
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon, alt } : null;
}
