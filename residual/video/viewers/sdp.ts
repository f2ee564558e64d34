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
}

// A browser has a handful; a thousand lines are a mistake.
const MAX_CANDIDATES = 64;

/** An `application/trickle-ice-sdpfrag` body. */
export function parseFragment(text: string): Fragment {
  const lines = text.split(/\r?\n/);
  const candidates = lines.filter((line) => line.startsWith('a=candidate:')).map((line) => line.slice(2));
  const ufrag = lines.find((line) => line.startsWith('a=ice-ufrag:'));
  return {
    candidates: candidates.slice(0, MAX_CANDIDATES),
    ufrag: ufrag === undefined ? null : ufrag.slice('a=ice-ufrag:'.length).trim(),
  };
}

/** The ICE user fragment of a whole description. */
export function ufragOf(sdp: string): string | null {
  return /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1] ?? null;
}
