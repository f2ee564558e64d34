import { metresBetween, type Place } from '../../../shared/flight/seen.ts';
import { plainText } from '../../../shared/plain-text.ts';
import type { Mountpoint } from '../../../shared/rpc/link-answers.ts';

/** The largest public casters have a table of half a megabyte. */
const MAX_BYTES = 1024 * 1024;
const MAX_ROWS = 20_000;
/** As many go on to people, the nearest first. */
const MAX_SHOWN = 200;
const MAX_TEXT = 100;
const END = 'ENDSOURCETABLE';
/** As the configuration takes it. */
const NAME = /^[A-Za-z0-9._~+@:-]{1,100}$/;

/** What a caster has, as it comes: lines of fields, of which those with `STR` are streams (RTCM 10410.1, 3.5). */
export class SourceTable {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** @returns whether that is all of it */
  push(bytes: Buffer): boolean {
    const room = MAX_BYTES - this.#bytes;
    this.#chunks.push(bytes.subarray(0, room));
    this.#bytes += bytes.length;
    return room <= bytes.length || this.#tail().includes(END);
  }

  rows(): readonly Mountpoint[] {
    const lines = Buffer.concat(this.#chunks).toString('utf8').split(/\r?\n/, MAX_ROWS);
    // The last one is the end, or was cut: half a name is another one.
    return lines.slice(0, -1).flatMap((line) => mountpointOf(line) ?? []);
  }

  #tail(): string {
    return Buffer.concat(this.#chunks.slice(-END.length)).toString('latin1');
  }
}

function mountpointOf(line: string): Mountpoint | null {
  const [type, name = '', place = '', format = '', , , , , , lat = '', lon = '', nmea] = line.split(';');
  if (type !== 'STR' || !NAME.test(name)) return null;
  const spot = spotOf(lat, lon);
  return {
    name,
    place: shown(place),
    format: shown(format),
    lat: spot?.lat ?? null,
    lon: spot?.lon ?? null,
    distance_km: null,
    wants_position: nmea === '1',
  };
}

function shown(text: string): string {
  return plainText(text).slice(0, MAX_TEXT);
}

function spotOf(latText: string, lonText: string): Place | null {
  const [lat, lon] = [Number(latText), Number(lonText)];
  const known = latText.trim() !== '' && lonText.trim() !== '' && Math.abs(lat) <= 90 && Math.abs(lon) <= 360;
  // Casters that do not know it write zeros.
  if (!known || (lat === 0 && lon === 0)) return null;
  return { lat, lon: lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon };
}

/** At most 200, with their distances; the nearest first where the vehicle knows its place, else as the caster has them. */
export function nearest(rows: readonly Mountpoint[], from: Place | null): readonly Mountpoint[] {
  if (from === null) return rows.slice(0, MAX_SHOWN);
  return rows
    .map((row) => ({ ...row, distance_km: kmTo(row, from) }))
    .toSorted((a, b) => (a.distance_km ?? Infinity) - (b.distance_km ?? Infinity))
    .slice(0, MAX_SHOWN);
}

function kmTo({ lat, lon }: Mountpoint, from: Place): number | null {
  return lat === null || lon === null ? null : Math.round(metresBetween(from, { lat, lon }) / 100) / 10;
}
