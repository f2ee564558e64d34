/** The few parts of SDP that we parse ourselves (RFC 8866, RFC 8840). */

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

/** Whether we send H.264 video according to the answer. */
export function sendsH264(answer: string): boolean {
  return /^m=video [1-9]/m.test(answer) && /^a=rtpmap:\d+ H264\/90000/im.test(answer);
}

export interface Fragment {
  /** Candidate lines without `a=`. */
  readonly candidates: readonly string[];
  readonly ufrag: string | null;
  readonly pwd: string | null;
}

/** Of one ICE session. A browser has a handful; a thousand lines are a mistake. */
export const MAX_CANDIDATES = 64;

/** An `application/trickle-ice-sdpfrag` body. */
export function parseFragment(text: string): Fragment {
  const lines = text.split(/\r?\n/);
  const candidates = lines.filter(isCandidate).map((line) => line.slice(2));
  return { candidates: candidates.slice(0, MAX_CANDIDATES), ufrag: ufragOf(text), pwd: pwdOf(text) };
}

const isCandidate = (line: string): boolean => line.startsWith('a=candidate:');

/** How many of the candidates of an offer count. */
export function candidatesIn(sdp: string): number {
  return Math.min(MAX_CANDIDATES, sdp.split(/\r?\n/).filter(isCandidate).length);
}

/** The description with as many candidates as count. */
export function fewCandidates(sdp: string): string {
  let seen = 0;
  return sdp
    .split(/\r?\n/)
    .filter((line) => !isCandidate(line) || seen++ < MAX_CANDIDATES)
    .join('\r\n');
}

/** The ICE user fragment of a description or of a part of one. */
export function ufragOf(sdp: string): string | null {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1] ?? null;
}

function pwdOf(sdp: string): string | null {
  return /^a=ice-pwd:(\S+)/m.exec(sdp)?.[1] ?? null;
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

/** The ICE part of a description as `application/trickle-ice-sdpfrag` (RFC 8840 9). */
export function fragmentOf(sdp: string): string {
  const lines = sdp.split(/\r?\n/);
  const all = (start: string): readonly string[] => lines.filter((line) => line.startsWith(start));
  return [
    ...all('a=ice-ufrag:').slice(0, 1),
    ...all('a=ice-pwd:').slice(0, 1),
    ...all('m=video').slice(0, 1),
    ...all('a=mid:').slice(0, 1),
    ...all('a=candidate:'),
    'a=end-of-candidates',
    '',
  ].join('\r\n');
}
