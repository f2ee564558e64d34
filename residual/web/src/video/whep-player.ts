import { call, send } from '../api/client.ts';
import type { Playback } from './playback.ts';

/** A WHEP client (draft-ietf-wish-whep): one receive-only video track. */

// A picture that stood still for so long is asked about: a video process that died says no goodbye.
const ASK_MS = 700;
const ASK_AGAIN_MS = 1500;
// One that stood still for so long is a broken one.
const STALL_MS = 5000;
const LOOK_MS = 250;
const BELIEVED_MS = 10_000;

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
): Promise<Playback & { readonly peer: RTCPeerConnection }> {
  const peer = new RTCPeerConnection();
  const { receiver } = peer.addTransceiver('video', { direction: 'recvonly' });
  // As soon as a picture is decoded: this is what somebody flies by.
  if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;
  video.srcObject = new MediaStream([receiver.track]);
  // The node learns our addresses from our own checks: the offer need not wait for them. They follow when they are all known.
  const gathered = candidatesOf(peer);
  await peer.setLocalDescription(await peer.createOffer());
  const response = await send('whep.post', {
    raw: { bytes: peer.localDescription?.sdp ?? '', type: 'application/sdp' },
  }).catch((error: unknown) => {
    peer.close();
    throw error;
  });
  const session = response.headers.get('location')?.split('/').at(-1) ?? '';
  let over = false;
  const stop = (): void => {
    peer.close();
    if (over) return;
    over = true;
    // The node notices by itself, should it not hear this.
    void call('whep.session.delete', { params: { session }, keepalive: true }).catch(() => undefined);
  };
  /** @returns HTTP status; 0: no answer */
  const trickle = async (lines: readonly string[]): Promise<number> =>
    send('whep.session.patch', {
      params: { session },
      raw: { bytes: lines.map((line) => `${line}\r\n`).join(''), type: 'application/trickle-ice-sdpfrag' },
    }).then(
      ({ status }) => status,
      (error: { status?: number }) => error.status ?? 0,
    );
  try {
    await peer.setRemoteDescription({ type: 'answer', sdp: await response.text() });
  } catch (error) {
    stop();
    throw error;
  }
  void gathered.then(async (candidates) => (over ? 0 : trickle(fragment(peer, candidates))));
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const finish = (): void => {
    clearInterval(watch);
    removeEventListener('pagehide', finish);
    stop();
    resolve();
  };
  let seen = performance.now();
  let frames = 0;
  let askAt = ASK_MS;
  const watch = setInterval(() => {
    if (over) {
      finish();
      return;
    }
    const now = video.getVideoPlaybackQuality().totalVideoFrames;
    if (now !== frames) {
      seen = performance.now();
      askAt = ASK_MS;
    }
    frames = now;
    const still = performance.now() - seen;
    if (still > STALL_MS) finish();
    else if (still > askAt) {
      askAt = still + ASK_AGAIN_MS;
      // No candidates: whether the node still has the session. A node that does not answer now may have it.
      void trickle(['']).then((status) => status === 404 && finish());
    }
  }, LOOK_MS);
  peer.addEventListener('connectionstatechange', () => {
    if (['failed', 'closed', 'disconnected'].includes(peer.connectionState)) finish();
  });
  addEventListener('pagehide', finish);
  return { ended, stop: finish, delayMs: () => null, takenAt: captureTimes(video, ended), peer };
}

/** When the picture that is shown was taken, as the sender's reports tell it to the browser; not every browser says it. */
function captureTimes(video: HTMLVideoElement, ended: Promise<void>): () => number | null {
  let takenAt: number | null = null;
  let over = false;
  const next = (): void => {
    if (over || !('requestVideoFrameCallback' in video)) return;
    video.requestVideoFrameCallback((_now, { captureTime }) => {
      // Before the first report of the sender it is no time at all.
      const age = performance.now() - (captureTime ?? Number.NaN);
      takenAt =
        captureTime !== undefined && Math.abs(age) < BELIEVED_MS
          ? performance.timeOrigin + captureTime
          : null;
      next();
    });
  };
  next();
  void ended.then(() => {
    over = true;
  });
  return () => takenAt;
}

/** All our candidates, once they are known. */
async function candidatesOf(peer: RTCPeerConnection): Promise<readonly string[]> {
  const candidates: string[] = [];
  return new Promise((resolve) => {
    peer.addEventListener('icecandidate', ({ candidate }) => {
      if (candidate === null) resolve(candidates);
      else if (candidate.candidate !== '') candidates.push(candidate.candidate);
    });
  });
}

/** The lines of an SDP fragment (RFC 8840). */
function fragment(peer: RTCPeerConnection, candidates: readonly string[]): readonly string[] {
  const credentials = peer.localDescription?.sdp.match(/^a=ice-(ufrag|pwd):.*$/gm) ?? [];
  return [
    ...credentials.slice(0, 2),
    'm=video 9 UDP/TLS/RTP/SAVPF 0',
    'a=mid:0',
    ...candidates.map((candidate) => `a=${candidate}`),
    'a=end-of-candidates',
  ];
}
