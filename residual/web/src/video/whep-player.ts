import { deferred } from '../../../../shared/async/deferred.ts';
import { call, Refused, send } from '../api/client.ts';
import { iceServersOf } from './ice-links.ts';
import type { Playback } from './playback.ts';
import type { Whep } from './whep.ts';

/** A WHEP client (draft-ietf-wish-whep): one receive-only video track. */

// A picture that stood still for so long is asked about: a video process that died says no goodbye.
const ASK_MS = 700;
const ASK_AGAIN_MS = 1500;
// Nothing at all came for so long: the path is broken, and ICE looks for another.
const DEAD_MS = 1200;
// A picture that stood still for so long is a broken one.
const STALL_MS = 5000;
// With servers on the way, until the first picture.
const JOIN_MS = 8000;
// Since ICE began anew.
const RESTART_MS = 4000;
const LOOK_MS = 250;
const BELIEVED_MS = 10_000;
// Whoever asked for a picture's time asks again within this.
const ASKED_MS = 1000;
// Candidates that come together travel together.
const GATHER_MS = 30;

const FRAGMENT = 'application/trickle-ice-sdpfrag';

/** By HTTP, to the node that this page is of. */
const BY_HTTP: Whep = {
  offer: async (sdp) => {
    const response = await send('whep.post', { raw: { bytes: sdp, type: 'application/sdp' } });
    return {
      answer: await response.text(),
      session: response.headers.get('location')?.split('/').at(-1) ?? '',
      servers: iceServersOf(response.headers.get('link')),
    };
  },
  patch: async (session, fragment, restart) => {
    try {
      const response = await send('whep.session.patch', {
        params: { session },
        raw: { bytes: fragment, type: FRAGMENT },
        headers: restart ? { 'if-match': '*' } : {},
      });
      return {
        status: response.status,
        fragment: await response.text(),
        servers: iceServersOf(response.headers.get('link')),
      };
    } catch (error) {
      return { status: error instanceof Refused ? error.status : 0, fragment: '', servers: [] };
    }
  },
  end: (session) =>
    void call('whep.session.delete', { params: { session }, keepalive: true }).catch(() => undefined),
};

/** Why this browser cannot; null if it can. */
export function lacksWebRtc(): 'webrtc' | 'h264' | null {
  if (typeof RTCPeerConnection === 'undefined') return 'webrtc';
  const known = RTCRtpReceiver.getCapabilities?.('video')?.codecs;
  const has = known?.some(({ mimeType }) => mimeType.toLowerCase() === 'video/h264') ?? true;
  return has ? null : 'h264';
}

/** Plays the node's picture. @throws Refused */
export async function play(
  video: HTMLVideoElement,
  whep: Whep = BY_HTTP,
): Promise<Playback & { readonly peer: RTCPeerConnection }> {
  const peer = new RTCPeerConnection();
  const { receiver } = peer.addTransceiver('video', { direction: 'recvonly' });
  // As soon as a picture is decoded: this is what somebody flies by.
  if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;
  video.srcObject = new MediaStream([receiver.track]);
  const candidates = new Candidates(peer);
  let session = '';
  let answer = '';
  let patience = STALL_MS;
  let over = false;
  const stop = (): void => {
    peer.close();
    candidates.stop();
    if (over) return;
    over = true;
    if (session !== '') whep.end(session);
  };
  /** The servers that it gathers with come with the answer, so that it begins after it (RFC 9725 4.6). */
  const settle = async (offer: RTCSessionDescriptionInit, servers: RTCIceServer[]): Promise<void> => {
    peer.setConfiguration({ iceServers: servers });
    candidates.begin(async (fragment) => (await whep.patch(session, fragment, false)).status);
    await peer.setLocalDescription(offer);
    await peer.setRemoteDescription({ type: 'answer', sdp: answer });
  };
  try {
    const offer = await peer.createOffer();
    const opened = await whep.offer(offer.sdp ?? '');
    ({ session, answer } = opened);
    if (opened.servers.length > 0) patience = JOIN_MS;
    await settle(offer, opened.servers);
  } catch (error) {
    stop();
    throw error;
  }
  const { promise: ended, resolve } = deferred();
  const finish = (): void => {
    clearInterval(watch);
    removeEventListener('pagehide', finish);
    stop();
    resolve();
  };
  let seen = performance.now();
  let heard = seen;
  const shown = (): number => video.getVideoPlaybackQuality().totalVideoFrames;
  let frames = shown();
  let bytes = 0;
  let askAt = ASK_MS;
  let restartedAt = Number.NaN;
  let reached = false;
  const restart = async (): Promise<void> => {
    if (over || !Number.isNaN(restartedAt)) return;
    restartedAt = performance.now();
    try {
      const offer = await peer.createOffer({ iceRestart: true });
      const { status, fragment, servers } = await whep.patch(session, iceOf(offer.sdp ?? ''), true);
      if (over) return;
      if (status !== 200) {
        finish();
        return;
      }
      answer = withIce(answer, fragment);
      await settle(offer, servers);
    } catch {
      finish(); // the connection is of no more use; the next one says what is wrong
    }
  };
  const look = async (): Promise<void> => {
    const now = shown();
    frames = Math.min(frames, now); // it counts anew with a new stream
    if (now > frames) {
      seen = heard = performance.now();
      askAt = ASK_MS;
      restartedAt = Number.NaN;
      patience = STALL_MS;
      frames = now;
      return;
    }
    const got = await received(peer);
    if (got !== bytes) heard = performance.now();
    bytes = got;
    const still = performance.now() - seen;
    if (over) return;
    const late = Number.isNaN(restartedAt) ? still > patience : performance.now() - restartedAt > RESTART_MS;
    if (late) finish();
    else if (reached && performance.now() - heard > DEAD_MS) await restart();
    else if (still > askAt) {
      askAt = still + ASK_AGAIN_MS;
      // No candidates: whether the node still has the session. A node that does not answer now may have it.
      const { status } = await whep.patch(session, '\r\n', false);
      if (status === 404) finish();
    }
  };
  let looking = false;
  const watch = setInterval(() => {
    if (over) finish();
    else if (!looking) {
      looking = true;
      void look()
        .catch(finish)
        .finally(() => {
          looking = false;
        });
    }
  }, LOOK_MS);
  peer.addEventListener('connectionstatechange', () => {
    if (peer.connectionState === 'connected') {
      reached = true;
      heard = performance.now();
    } else if (peer.connectionState === 'closed') finish();
    else if (['failed', 'disconnected'].includes(peer.connectionState)) {
      if (reached && Number.isNaN(restartedAt)) void restart();
      else if (peer.connectionState === 'failed') finish();
    }
  });
  addEventListener('pagehide', finish);
  return { ended, stop: finish, delayMs: () => null, takenAt: captureTimes(video), peer };
}

/** Bytes that came on any path so far. */
async function received(peer: RTCPeerConnection): Promise<number> {
  let sum = 0;
  (await peer.getStats()).forEach((each: { type: string; bytesReceived?: number }) => {
    if (each.type === 'transport') sum += each.bytesReceived ?? 0;
  });
  return sum;
}

/**
 * When the picture that is shown was taken, as the sender's reports tell it to the browser; not every browser says it. Only looked at
 * while somebody asks: the browser does a whole frame's work for each picture that it tells of.
 */
function captureTimes(video: HTMLVideoElement): () => number | null {
  let takenAt: number | null = null;
  let waiting = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  const follow = (): void => {
    if (waiting || !('requestVideoFrameCallback' in video)) return;
    waiting = true;
    video.requestVideoFrameCallback((_now, { captureTime }) => {
      waiting = false;
      const now = performance.now();
      // Before the first report of the sender it is no time at all.
      takenAt =
        captureTime !== undefined && Math.abs(now - captureTime) < BELIEVED_MS
          ? performance.timeOrigin + captureTime
          : null;
      if (now - askedAt < ASKED_MS) follow();
    });
  };
  return () => {
    const now = performance.now();
    // What was known when somebody asked last is of another picture.
    if (now - askedAt > ASKED_MS) takenAt = null;
    askedAt = now;
    follow();
    return takenAt;
  };
}

/** Tells the node our candidates as they are found. */
class Candidates {
  readonly #peer: RTCPeerConnection;
  #tell: ((fragment: string) => Promise<number>) | null = null;
  #waiting: string[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(peer: RTCPeerConnection) {
    this.#peer = peer;
    peer.addEventListener('icecandidate', ({ candidate }) => {
      if (candidate?.candidate === '') return;
      this.#waiting.push(candidate === null ? 'a=end-of-candidates' : `a=${candidate.candidate}`);
      this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
    });
  }

  /** Those of the last ICE session are of no more use. */
  begin(tell: (fragment: string) => Promise<number>): void {
    this.#tell = tell;
    this.#waiting = [];
  }

  stop(): void {
    this.#tell = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#timer = null;
    const lines = this.#waiting.splice(0);
    const sdp = this.#peer.localDescription?.sdp ?? '';
    if (lines.length > 0) void this.#tell?.(`${iceOf(sdp)}${lines.map((line) => `${line}\r\n`).join('')}`);
  }
}

/** ICE credentials and media line of a description, as the beginning of an SDP fragment (RFC 8840). */
function iceOf(sdp: string): string {
  const line = (start: string): string => new RegExp(`^${start}.*$`, 'm').exec(sdp)?.[0].trim() ?? '';
  return ['a=ice-ufrag:', 'a=ice-pwd:', 'm=video', 'a=mid:'].map((start) => `${line(start)}\r\n`).join('');
}

/** The answer with the credentials and candidates of a fragment in the place of its own. */
function withIce(answer: string, fragment: string): string {
  const lines = fragment.split(/\r?\n/);
  const ours = lines.filter((line) => /^a=(?:candidate|end-of-candidates)/.test(line));
  const find = (start: string): string => lines.find((line) => line.startsWith(start)) ?? '';
  return answer
    .split(/\r?\n/)
    .filter((line) => line !== '' && !/^a=(?:candidate|end-of-candidates)/.test(line))
    .map((line) =>
      line.startsWith('a=ice-ufrag:')
        ? find('a=ice-ufrag:')
        : line.startsWith('a=ice-pwd:')
          ? find('a=ice-pwd:')
          : line,
    )
    .concat(ours, '')
    .join('\r\n');
}
