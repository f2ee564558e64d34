// A WHEP client (draft-ietf-wish-whep): one receive-only video track.

// A picture that stood still for so long is asked about: a video process that died says no goodbye.
const ASK_MS = 700;
const ASK_AGAIN_MS = 1500;
// One that stood still for so long is a broken one.
const STALL_MS = 5000;

/**
 * Plays `url` in `video`.
 * @param {Record<string, string>} headers the credential
 * @returns {Promise<{ended: Promise<void>, stop(): void, peer: RTCPeerConnection}>}
 * @throws {Error} with the node's sentence and `status`
 */
export async function play(video, url, headers) {
  const peer = new RTCPeerConnection();
  const { receiver } = peer.addTransceiver('video', { direction: 'recvonly' });
  // As soon as a picture is decoded: this is what somebody flies by.
  if ('jitterBufferTarget' in receiver) receiver.jitterBufferTarget = 0;
  video.srcObject = new MediaStream([receiver.track]);
  // The node learns our addresses from our own checks: the offer need not wait for them. They follow when they are all known.
  const gathered = candidatesOf(peer);
  await peer.setLocalDescription(await peer.createOffer());
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/sdp' },
    body: peer.localDescription.sdp,
  }).catch((error) => {
    peer.close();
    throw error;
  });
  if (response.status !== 201) {
    peer.close();
    const body = await response.json().catch(() => ({}));
    throw Object.assign(new Error(body.detail ?? `HTTP ${response.status}`), { status: response.status });
  }
  const session = response.headers.get('location');
  const stop = () => {
    peer.close();
    fetch(session, { method: 'DELETE', headers, keepalive: true }).catch(() => undefined); // the node notices by itself
  };
  const trickle = (lines) =>
    fetch(session, {
      method: 'PATCH',
      headers: { ...headers, 'content-type': 'application/trickle-ice-sdpfrag' },
      body: lines.map((line) => `${line}\r\n`).join(''),
    }).catch(() => null);
  // No candidates: whether the node still has the session. A node that does not answer now may have it.
  const alive = async () => (await trickle(['']))?.status !== 404;
  await peer.setRemoteDescription({ type: 'answer', sdp: await response.text() });
  void gathered.then(
    (candidates) => peer.connectionState !== 'closed' && trickle(fragment(peer, candidates)),
  );
  const ended = new Promise((resolve) => {
    const finish = () => {
      clearInterval(watch);
      stop();
      resolve();
    };
    let seen = performance.now();
    let frames = 0;
    let askAt = ASK_MS;
    const watch = setInterval(() => {
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
        void alive().then((there) => there || finish());
      }
    }, 250);
    peer.addEventListener('connectionstatechange', () => {
      if (['failed', 'closed', 'disconnected'].includes(peer.connectionState)) finish();
    });
    addEventListener('pagehide', finish, { once: true });
  });
  return { ended, stop, peer };
}

/** All our candidates, once they are known. */
function candidatesOf(peer) {
  const candidates = [];
  return new Promise((resolve) => {
    peer.addEventListener('icecandidate', ({ candidate }) => {
      if (candidate === null) resolve(candidates);
      else if (candidate.candidate !== '') candidates.push(candidate.candidate);
    });
  });
}

/** The lines of an SDP fragment (RFC 8840). */
function fragment(peer, candidates) {
  const credentials = peer.localDescription.sdp.match(/^a=ice-(ufrag|pwd):.*$/gm) ?? [];
  return [
    ...credentials.slice(0, 2),
    'm=video 9 UDP/TLS/RTP/SAVPF 0',
    'a=mid:0',
    ...candidates.map((candidate) => `a=${candidate}`),
    'a=end-of-candidates',
  ];
}
