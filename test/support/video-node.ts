import { RTCPeerConnection, RTCRtpCodecParameters } from 'werift';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { askAgain } from './ask-again.ts';
import { KEY } from './edge.ts';
import { cableAddresses } from './netns.ts';
import { type NodeOptions, TestNode } from './node.ts';

/** What a node with a test camera begins with. */
export const TEST_CAMERA = "video:\n  source: test\n  radio: ''\n";

/** Below `video:`, a picture that a machine encodes in time that has much else to do. */
export const EASY_HERO = '  hero: { width: 640, height: 360, fps: 15, bitrate_kbps: 1000 }\n';

export const KEYED = { 'x-svc-key': KEY } as const;

/** A paired node whose test camera gives pictures. */
export async function startVideoNode(options: NodeOptions = {}): Promise<TestNode> {
  const node = await TestNode.start({
    pairing: { key: KEY },
    simulated: false,
    config: TEST_CAMERA,
    ...options,
  });
  await pictures(node);
  return node;
}

const video = async (node: TestNode): Promise<Readonly<Record<string, unknown>>> =>
  (await node.json('/api/video', { headers: KEYED })).body;

/** Resolves once the pipeline runs and its encoder has worked, and the API knows: svc-residual tells nobody what it has heard. */
export async function pictures(node: TestNode): Promise<void> {
  await askAgain(
    'the camera gives pictures',
    async () => video(node),
    ({ state, fps }) => state === 'running' && fps !== null,
  );
}

/** Resolves once so many watch. svc-residual counts them, those of the film among them, and tells nobody. */
export async function untilViewers(node: TestNode, count: number): Promise<void> {
  await askAgain(
    `${count} watch`,
    async () => (await video(node))['viewers'],
    (viewers) => viewers === count,
  );
}

/** One access unit as a viewer got it. */
export interface Unit {
  /** Annex B. */
  readonly data: Buffer;
  readonly key: boolean;
  /** Microseconds of the RTP clock. */
  readonly at: number;
}

/** A description without the candidates on other tests' cables: a playback over one breaks off when that test ends. */
function withoutCables(sdp: string): string {
  const cables = cableAddresses();
  const isOnCable = (line: string): boolean =>
    line.startsWith('a=candidate:') && cables.has(line.split(' ')[4] ?? '');
  return sdp
    .split('\r\n')
    .filter((line) => !isOnCable(line))
    .join('\r\n');
}

/** A peer that wants to watch, with its offer. */
export async function watcher(): Promise<{ peer: RTCPeerConnection; offer: string }> {
  const cables = cableAddresses();
  const peer = new RTCPeerConnection({
    iceFilterCandidatePair: ({ localCandidate, remoteCandidate }) =>
      !cables.has(localCandidate.host) && !cables.has(remoteCandidate.host),
    codecs: {
      video: [
        new RTCRtpCodecParameters({
          mimeType: 'video/H264',
          clockRate: 90_000,
          parameters: 'packetization-mode=1;profile-level-id=42e01f',
        }),
      ],
      audio: [],
    },
    iceServers: [],
  });
  peer.addTransceiver('video', { direction: 'recvonly' });
  await peer.setLocalDescription(await peer.createOffer());
  return { peer, offer: withoutCables(peer.localDescription?.sdp ?? '') };
}

interface Answered {
  readonly status: number;
  readonly sdp: string;
  /** Of the session. */
  readonly at: string;
}

/** A playback by WHEP that hands over what comes. @param post offers it; by HTTP unless told */
export async function play(
  node: TestNode,
  onUnit: (unit: Unit) => void,
  post = async (offer: string): Promise<Answered> => offerTo(node, offer),
): Promise<{ peer: RTCPeerConnection; session: string }> {
  const { peer, offer } = await watcher();
  peer.onTrack.subscribe((track) => {
    let at = 0;
    const rtp = new RtpDepacketizer((data, key) => onUnit({ data, key, at }));
    track.onReceiveRtp.subscribe((packet) => {
      at = packet.header.timestamp / 0.09;
      rtp.push(packet.serialize(), at);
    });
  });
  const { status, sdp, at } = await post(offer);
  if (status !== 201) throw new Error(sdp);
  await peer.setRemoteDescription({ type: 'answer', sdp: withoutCables(sdp) });
  return { peer, session: at };
}

async function offerTo(node: TestNode, offer: string): Promise<Answered> {
  const answer = await node.fetch('/whep', {
    method: 'POST',
    headers: { ...KEYED, 'content-type': 'application/sdp' },
    body: offer,
  });
  return {
    status: answer.status,
    sdp: await answer.text(),
    at: answer.headers.get('location') ?? '',
  };
}

/** A playback that was dropped says nothing to its client. */
const UNITS_MS = 30_000;

/** Watches from a key frame on until `enough`, then ends the playback. @throws Error when too few pictures come in time */
export async function unitsOf(
  node: TestNode,
  enough: (units: readonly Unit[]) => boolean,
): Promise<readonly Unit[]> {
  const units: Unit[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = setTimeout(() => {
    node
      .json('/api/video', { headers: KEYED })
      .then(
        ({ body }) => reject(new Error(`only ${units.length} pictures: ${JSON.stringify(body)}`)),
        reject,
      );
  }, UNITS_MS);
  const { peer, session } = await play(node, (unit) => {
    if (units.length === 0 && !unit.key) return;
    units.push(unit);
    if (enough(units)) resolve();
  });
  await promise.finally(() => clearTimeout(late));
  await node.request(session, { method: 'DELETE', headers: KEYED });
  await peer.close();
  return units;
}
