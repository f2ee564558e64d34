import { joinNals, splitNals } from './h264.ts';

/** H.265 in Annex B (ITU-T H.265, Annex B): what its NAL units are. They are cut apart as those of H.264. */

export const NAL265 = { vps: 32, sps: 33, pps: 34, aud: 35, aggregate: 48, fragment: 49 } as const;
/** Of a NAL unit's header. */
export const HEADER_BYTES_265 = 2;
/** Pictures that a decoder can begin with: BLA, IDR and CRA. */
const IRAP = { first: 16, last: 23 } as const;

/** The type of a NAL unit, 0 to 63. */
export function nalType265(nal: Buffer): number {
  return ((nal[0] ?? 0) >> 1) & 0x3f;
}

/** Whether it is a part of a picture that a decoder can begin with. */
export function isKey265(nal: Buffer): boolean {
  const type = nalType265(nal);
  return type >= IRAP.first && type <= IRAP.last;
}

/** VPS, SPS and PPS of an access unit, as Annex B; null where one of them is missing. */
export function parameterSets265(unit: Buffer): Buffer | null {
  const nals = splitNals(unit);
  const sets = [NAL265.vps, NAL265.sps, NAL265.pps].map((type) =>
    nals.filter((nal) => nalType265(nal) === type),
  );
  return sets.some((found) => found.length === 0) ? null : joinNals(sets.flat());
}
