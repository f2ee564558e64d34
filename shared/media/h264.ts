/** H.264 in Annex B (ITU-T H.264, Annex B): finding the NAL units, and what they are. */

export const NAL = { slice: 1, idr: 5, sei: 6, sps: 7, pps: 8, aud: 9, stapA: 24, fuA: 28 } as const;

const START = Buffer.from([0, 0, 0, 1]);
const SHORT_START = Buffer.from([0, 0, 1]);

/** The type of a NAL unit, 1 to 23. */
export function nalType(nal: Buffer): number {
  return (nal[0] ?? 0) & 0x1f;
}

/** The NAL units of an access unit, without their start codes; views, not copies. */
export function splitNals(unit: Buffer): Buffer[] {
  const nals: Buffer[] = [];
  let found = unit.indexOf(SHORT_START);
  while (found !== -1) {
    const from = found + SHORT_START.length;
    found = unit.indexOf(SHORT_START, from);
    let to = found === -1 ? unit.length : found;
    while (to > from && unit[to - 1] === 0) to--; // the zero of a four-byte start code, and trailing zeros
    if (to > from) nals.push(unit.subarray(from, to));
  }
  return nals;
}

/** An access unit of these NAL units. */
export function joinNals(nals: readonly Buffer[]): Buffer {
  return Buffer.concat(nals.flatMap((nal) => [START, nal]));
}

/** SPS and PPS of an access unit, as Annex B; null where one of them is missing. */
export function parameterSets(unit: Buffer): Buffer | null {
  const nals = splitNals(unit);
  const sps = nals.find((nal) => nalType(nal) === NAL.sps);
  const pps = nals.find((nal) => nalType(nal) === NAL.pps);
  return sps === undefined || pps === undefined ? null : joinNals([sps, pps]);
}
