/** The parts of SDP that we read ourselves (RFC 8866, RFC 8840). */

/** Lets the browser show a picture as soon as it is decoded, instead of building up a buffer. */
export const PLAYOUT_DELAY = 'http://www.webrtc.org/experiments/rtp-hdrext/playout-delay';
/** Numbers the packets, so that the viewer can report when each arrived. */
export const TRANSPORT_CC = 'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01';

/** The negotiated id of a header extension; null if there is none. */
export function extensionId(sdp: string, uri: string): number | null {
  for (const line of sdp.split(/\r?\n/)) {
    const [, id, name] = /^a=extmap:(\d{1,3})(?:\/\w+)? (\S+)/.exec(line) ?? [];
    if (name === uri && id !== undefined) return Number(id);
  }
  return null;
}

/** A section of a description: its `m=` line and what is below it. */
export interface Section {
  readonly kind: string;
  readonly port: number;
  readonly profile: string;
  readonly formats: readonly string[];
  readonly mid: string | null;
  readonly lines: readonly string[];
}

/** @returns what is above the first section, and the sections */
export function sectionsOf(sdp: string): {
  readonly session: readonly string[];
  readonly sections: readonly Section[];
} {
  const session: string[] = [];
  const found: string[][] = [];
  for (const line of sdp.split(/\r?\n/)) {
    if (line === '') continue;
    if (line.startsWith('m=')) found.push([line]);
    else (found.at(-1) ?? session).push(line);
  }
  const sections = found.map((lines) => {
    const [kind = '', port = '0', profile = '', ...formats] = (lines[0] ?? '').slice(2).trim().split(/\s+/);
    return { kind, port: Number.parseInt(port, 10), profile, formats, mid: valueOf(lines, 'mid'), lines };
  });
  return { session, sections };
}

/** Of an attribute; null without it. */
export function valueOf(lines: readonly string[], name: string): string | null {
  const found = lines.find((line) => line.startsWith(`a=${name}:`));
  return found === undefined ? null : found.slice(name.length + 3).trim();
}

export interface Fragment {
  /** Candidate lines without `a=`. */
  readonly candidates: readonly string[];
  readonly ufrag: string | null;
  readonly pwd: string | null;
}

/** Of one ICE session. A browser has a handful; a thousand lines are a mistake. */
export const MAX_CANDIDATES = 64;

/** An `application/trickle-ice-sdpfrag` body (RFC 8840 9). @param mids of the sections that count */
export function parseFragment(text: string, mids: readonly string[]): Fragment {
  const { session, sections } = sectionsOf(text);
  const ours = sections.filter(({ mid }) => mid === null || mids.includes(mid));
  const lines = [...ours.flatMap((each) => each.lines), ...session];
  const candidates = lines.filter(isCandidate).map((line) => line.slice(2));
  return {
    candidates: [...new Set(candidates)].slice(0, MAX_CANDIDATES),
    ufrag: valueOf(lines, 'ice-ufrag'),
    pwd: valueOf(lines, 'ice-pwd'),
  };
}

export function isCandidate(line: string): boolean {
  return line.startsWith('a=candidate:');
}

/** How many candidates an offer has. */
export function candidatesIn(sdp: string): number {
  return sdp.split(/\r?\n/).filter(isCandidate).length;
}

/** The ICE user fragment of a description or of a part of one. */
export function ufragOf(sdp: string): string | null {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1] ?? null;
}

/** What may stand in an ICE user fragment and password (RFC 8839 5.4). */
const ICE_UFRAG = /^[A-Za-z0-9+/]{4,256}$/;
const ICE_PWD = /^[A-Za-z0-9+/]{22,256}$/;

/** The description with other ICE credentials and without candidates; null where they are none. */
export function withIce(sdp: string, ufrag: string | null, pwd: string | null): string | null {
  if (ufrag === null || pwd === null || !ICE_UFRAG.test(ufrag) || !ICE_PWD.test(pwd)) return null;
  return sdp
    .split(/\r?\n/)
    .filter((line) => !/^a=(?:candidate:|end-of-candidates)/.test(line))
    .map((line) => line.replace(/^(a=ice-ufrag:).*/, `$1${ufrag}`).replace(/^(a=ice-pwd:).*/, `$1${pwd}`))
    .join('\r\n');
}

/** The description with these candidates too, as far as it does not have them; each without `a=candidate:`. */
export function withCandidates(sdp: string, candidates: readonly string[]): string {
  const missing = candidates.filter((each) => {
    const [foundation = '', , , , ...place] = each.split(' ');
    return !sdp.includes(`a=candidate:${foundation} `) || !sdp.includes(place.slice(0, 4).join(' '));
  });
  if (missing.length === 0) return sdp;
  const lines = sdp.split(/\r?\n/).filter((line) => line !== 'a=end-of-candidates');
  const at = lines.findIndex((line) => line.startsWith('a=ice-ufrag:'));
  return lines.toSpliced(at, 0, ...missing.map((each) => `a=candidate:${each}`)).join('\r\n');
}

/** The ICE part of an answer as `application/trickle-ice-sdpfrag` (RFC 8840 9). */
export function fragmentOf(sdp: string): string {
  const { sections } = sectionsOf(sdp);
  const from =
    sections.find(({ lines }) => lines.some(isCandidate)) ?? sections.find(({ port }) => port !== 0);
  const all = (start: string): readonly string[] =>
    (from?.lines ?? []).filter((line) => line.startsWith(start));
  return [
    ...['a=ice-ufrag:', 'a=ice-pwd:', 'm=', 'a=mid:', 'a=candidate:'].flatMap(all),
    'a=end-of-candidates',
    '',
  ].join('\r\n');
}
