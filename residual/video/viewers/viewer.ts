import {
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RTCRtpHeaderExtensionParameters,
  type RTCRtpSender,
  RtpHeader,
  RtpPacket,
} from 'werift';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { RtpPart } from '../rtp-h264.ts';
import { extensionId, PLAYOUT_DELAY, sendsH264, ufragOf } from './sdp.ts';

/** One WebRTC playback: a peer connection that sends one H.264 track. */

const GATHER_MS = 2000;
const H264 = {
  mimeType: 'video/H264',
  clockRate: 90_000,
  // Constrained baseline, which every browser decodes; our pictures exceed level 3.1, as those of all senders do.
  parameters: 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
  rtcpFeedback: [{ type: 'nack' }, { type: 'nack', parameter: 'pli' }],
} as const;
/** Minimum and maximum of zero, 12 bits each. */
const NO_DELAY = Buffer.alloc(3);

export interface ViewerHooks {
  /** Called when the viewer needs a key frame. */
  readonly onKeyWanted: () => void;
  readonly onConnected: () => void;
  readonly onGone: (why: string) => void;
  /** Called for each packet from the viewer. */
  readonly onHeard: () => void;
}

export class Viewer {
  readonly answer: string;
  readonly #peer: RTCPeerConnection;
  readonly #sender: RTCRtpSender;
  readonly #remoteUfrag: string | null;
  readonly #delayId: number | null;
  #sequence: number;
  #connected = false;
  #flowing = false;

  private constructor(
    peer: RTCPeerConnection,
    sender: RTCRtpSender,
    offer: string,
    answer: string,
    random: () => number,
  ) {
    this.#peer = peer;
    this.#sender = sender;
    this.answer = answer;
    this.#remoteUfrag = ufragOf(offer);
    this.#delayId = extensionId(answer, PLAYOUT_DELAY);
    this.#sequence = Math.floor(random() * 0x8000);
  }

  /**
   * Answers an offer. No STUN or TURN server is used: the node's own addresses are the candidates.
   * @param random 0 to 1
   * @throws ApiError E_BAD_REQUEST for an offer that cannot be read or does not want H.264
   */
  static async open(offer: string, hooks: ViewerHooks, random: () => number): Promise<Viewer> {
    const peer = new RTCPeerConnection({
      codecs: {
        video: [new RTCRtpCodecParameters({ ...H264, rtcpFeedback: [...H264.rtcpFeedback] })],
        audio: [],
      },
      headerExtensions: { video: [new RTCRtpHeaderExtensionParameters({ uri: PLAYOUT_DELAY })], audio: [] },
      iceServers: [],
      iceUseIpv6: true,
    });
    try {
      const { sender } = peer.addTransceiver('video', { direction: 'sendonly' });
      await peer.setRemoteDescription({ type: 'offer', sdp: offer });
      await peer.setLocalDescription(await peer.createAnswer());
      await gathered(peer);
      const answer = peer.localDescription?.sdp ?? '';
      if (!sendsH264(answer)) throw new Error('it does not want H.264 video');
      const viewer = new Viewer(peer, sender, offer, answer, random);
      viewer.#listen(hooks);
      return viewer;
    } catch (error) {
      await peer.close();
      throw new ApiError('E_BAD_REQUEST', `The offer cannot be answered: ${messageOf(error)}.`);
    }
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** The ICE credentials of the offer; a fragment with other ones is an ICE restart. */
  isSameIce(ufrag: string | null): boolean {
    return ufrag === null || ufrag === this.#remoteUfrag;
  }

  /** @throws ApiError E_BAD_REQUEST for a line that is not a candidate */
  async addCandidate(candidate: string): Promise<void> {
    try {
      await this.#peer.addIceCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 });
    } catch (error) {
      throw new ApiError('E_BAD_REQUEST', `A candidate cannot be read: ${messageOf(error)}.`);
    }
  }

  /**
   * Sends one picture; pictures before the first key frame are left out. It never blocks.
   * @param timestamp of the RTP clock
   */
  send(parts: readonly RtpPart[], timestamp: number, key: boolean): void {
    if (!this.#connected || (!this.#flowing && !key)) return;
    this.#flowing = true;
    for (const { payload, marker } of parts) {
      const header = new RtpHeader({ version: 2, marker, timestamp, sequenceNumber: this.#sequence });
      if (key && this.#delayId !== null) {
        header.extension = true;
        header.extensions = [{ id: this.#delayId, payload: NO_DELAY }];
      }
      this.#sequence = (this.#sequence + 1) & 0xffff;
      // A packet that cannot be sent is a lost packet; the connection's state reports its end.
      this.#sender.sendRtp(new RtpPacket(header, payload)).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.#connected = false;
    await this.#peer.close();
  }

  #listen(hooks: ViewerHooks): void {
    this.#peer.connectionStateChange.subscribe((state) => {
      if (state === 'connected') {
        this.#connected = true;
        hooks.onConnected();
      } else if (state === 'failed' || state === 'closed') hooks.onGone(`connection ${state}`);
    });
    this.#sender.onPictureLossIndication.subscribe(() => hooks.onKeyWanted());
    this.#sender.onRtcp.subscribe(() => hooks.onHeard());
  }
}

/** The answer carries all our candidates, so that a client without trickle works too. */
async function gathered(peer: RTCPeerConnection): Promise<void> {
  if (peer.iceGatheringState === 'complete') return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, GATHER_MS);
    peer.iceGatheringStateChange.subscribe((state) => {
      if (state !== 'complete') return;
      clearTimeout(timer);
      resolve();
    });
  });
}
