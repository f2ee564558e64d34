import { networkInterfaces } from 'node:os';
import {
  type RTCIceTransport,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RTCRtpHeaderExtensionParameters,
  type RTCRtpSender,
  RtcpRrPacket,
  RtpHeader,
  RtpPacket,
  type TransportWideCC,
} from 'werift';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { RtpPart } from '../../../shared/media/rtp-h264.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { IceServer, ViewerPath } from '../../../shared/rpc/video.ts';
import { Adaptation, type Encode } from './adaptation.ts';
import { H264_PARAMETERS, type Offer, readOffer } from './offer.ts';
import { Pacer } from './pacer.ts';
import { OVERHEAD_BYTES, Path } from './path.ts';
import { isWorthTrying, join, type Relays, takeOut } from './relays.ts';
import {
  candidatesIn,
  extensionId,
  type Fragment,
  fragmentOf,
  MAX_CANDIDATES,
  PLAYOUT_DELAY,
  parseFragment,
  TRANSPORT_CC,
  ufragOf,
  withCandidates,
  withIce,
} from './sdp.ts';
import { boundChecks, type Unproven } from './unproven.ts';

/** One WebRTC playback: a peer connection that sends one H.264 track. */

const GATHER_MS = 2000;
const LOCAL_NAME = /^(?:\S+ ){4}\S+\.local /i;
/** Seconds; a path that is slower has the relay. */
const STUN_S = 0.7;
const H264 = {
  mimeType: 'video/H264',
  clockRate: 90_000,
  parameters: H264_PARAMETERS,
  rtcpFeedback: [{ type: 'nack' }, { type: 'nack', parameter: 'pli' }, { type: 'transport-cc' }],
} as const;
/** Minimum and maximum of zero, 12 bits each. */
const NO_DELAY = Buffer.alloc(3);

/** A browser checks the pair that it uses every 2.5 s at least. */
const FOLLOW_MS = 5000;

/** Of padding, RFC 3550 5.1: the last byte tells how many there are. */
const PADDING = Buffer.alloc(255, 0);
PADDING.writeUInt8(PADDING.length, PADDING.length - 1);

const PACE = {
  /** Before the path is known: a key frame in 20 ms, without overflowing the queue of a switch. */
  unknownKbps: 20_000,
  /** Faster than what the path carries, so that the path's queue and not ours decides. */
  headroom: 1.5,
  probeMs: 100,
} as const;

interface Packet {
  readonly payload: Buffer;
  readonly marker: boolean;
  readonly timestamp: number;
  readonly key: boolean;
  readonly padding: boolean;
}

export interface ViewerHooks {
  /** Called when the viewer needs a key frame of that encode. */
  readonly onKeyWanted: (encode: Encode) => void;
  /** What a path must carry for the main encode, kbit/s. */
  readonly needKbps: () => number;
  /** Steady, ms. */
  readonly now: () => number;
  readonly onConnected: () => void;
  readonly onGone: (why: string) => void;
  /** Called for each packet from the viewer. */
  readonly onHeard: () => void;
}

/** By which servers it is reached through NAT. */
interface ViewerIce {
  readonly relays: Relays;
  /** One for all viewers. */
  readonly unproven: Unproven;
  /** With credentials that are good now. */
  readonly servers: readonly IceServer[];
  readonly log: Logger;
}

export class Viewer {
  readonly answer: string;
  readonly #offer: Offer;
  readonly #ice: ViewerIce;
  readonly #beginIce: () => void;
  /** That the client has named in this ICE session. */
  #candidates: number;
  readonly #peer: RTCPeerConnection;
  readonly #sender: RTCRtpSender;
  #remoteUfrag: string | null;
  #localUfrag: string | null;
  readonly #delayId: number | null;
  readonly #hooks: ViewerHooks;
  readonly #adaptation = new Adaptation();
  readonly #path = new Path();
  /** The viewer reports the arrival of each packet. */
  readonly #reportsArrivals: boolean;
  readonly #pacer: Pacer<Packet>;
  #probeKbps = 0;
  #sequence: number;
  #timestamp = 0;
  #connected = false;
  #restarting = false;
  #followedAt = -Infinity;
  /** Checks that each pair had got, by its id. */
  #checks = new Map<string, number>();
  #closed = false;
  /** The encode whose pictures it gets; null until the next key frame. */
  #flowing: Encode | null = null;

  private constructor(
    peer: RTCPeerConnection,
    sender: RTCRtpSender,
    offer: Offer,
    answer: string,
    hooks: ViewerHooks,
    ice: ViewerIce,
    beginIce: () => void,
    random: () => number,
  ) {
    this.#offer = offer;
    this.#beginIce = beginIce;
    this.#candidates = candidatesIn(offer.sdp);
    this.#ice = ice;
    this.#localUfrag = ufragOf(answer);
    this.#peer = peer;
    this.#sender = sender;
    this.answer = answer;
    this.#remoteUfrag = ufragOf(offer.sdp);
    this.#delayId = extensionId(answer, PLAYOUT_DELAY);
    this.#reportsArrivals = extensionId(answer, TRANSPORT_CC) !== null;
    this.#hooks = hooks;
    const { now } = hooks;
    this.#pacer = new Pacer({
      rateKbps: () => this.#paceKbps(),
      send: (packet) => this.#sendPacket(packet),
      now,
      onLate: () => this.#restart(),
    });
    this.#sequence = Math.floor(random() * 0x8000);
  }

  /**
   * Answers an offer. The candidates are the node's own addresses and what the STUN and TURN servers of `ice` give.
   * @param random 0 to 1
   * @throws ApiError E_BAD_REQUEST with the reason for an offer that cannot be served
   */
  static async open(
    offer: string,
    hooks: ViewerHooks,
    ice: ViewerIce,
    random: () => number,
  ): Promise<Viewer> {
    const offered = readOffer(offer);
    const { stun, relays } = ice.relays.gather(ice.servers);
    const peer = new RTCPeerConnection({
      codecs: {
        video: [new RTCRtpCodecParameters({ ...H264, rtcpFeedback: [...H264.rtcpFeedback] })],
        audio: [],
      },
      headerExtensions: {
        video: [PLAYOUT_DELAY, TRANSPORT_CC].map((uri) => new RTCRtpHeaderExtensionParameters({ uri })),
        audio: [],
      },
      iceServers: stun === null ? [] : [{ urls: stun }],
      iceUseIpv6: true,
      iceAdditionalHostAddresses: linkLocalAddresses(),
      iceStunGatherTimeout: STUN_S,
      iceFilterCandidatePair: ({ localCandidate, remoteCandidate }) =>
        isWorthTrying(localCandidate, remoteCandidate),
    });
    let over = false;
    try {
      const { sender } = peer.addTransceiver('video', { direction: 'sendonly' });
      await peer.setRemoteDescription({ type: 'offer', sdp: offered.sdp });
      // Before they gather: without addresses of our own nothing is sent.
      const beginIce = boundChecks(
        peer.iceTransports.map(({ connection }) => connection),
        ice.unproven,
      );
      const isOver = (): boolean => over || peer.connectionState === 'closed';
      const connection = connectionOf(peer);
      if (stun === null) delete connection.stunServer; // werift's own, which is Google's
      // Both take round trips: STUN is asked by werift meanwhile.
      const joined = join(connection, relays, isOver, ice.log);
      await answerOf(peer, offered);
      await joined;
      const answer = offered.answer(descriptionOf(peer));
      const viewer = new Viewer(peer, sender, offered, answer, hooks, ice, beginIce, random);
      viewer.#listen();
      return viewer;
    } catch (error) {
      over = true;
      await peer.close();
      throw new ApiError('E_BAD_REQUEST', `The offer cannot be answered: ${messageOf(error)}.`);
    }
  }

  /** The ICE credentials that the answer, or the last restart, gave. */
  get localUfrag(): string {
    return this.#localUfrag ?? '';
  }

  /**
   * Begins ICE anew (RFC 9725 4.3.2), on the same DTLS connection: for a relay that died, or an address that changed.
   * @param servers with credentials that are good now
   * @returns our side of it, as `application/trickle-ice-sdpfrag`
   * @throws ApiError E_BAD_REQUEST for a fragment without new credentials, E_BUSY while the last one is under way
   */
  async restart({ ufrag, pwd, candidates }: Fragment, servers: readonly IceServer[]): Promise<string> {
    const offer = withIce(this.#offer.sdp, ufrag, pwd);
    if (offer === null || ufrag === this.#remoteUfrag)
      throw new ApiError('E_BAD_REQUEST', 'An ICE restart needs a new a=ice-ufrag and a=ice-pwd.');
    if (this.#restarting) throw new ApiError('E_BUSY', 'The last ICE restart is under way.');
    this.#restarting = true;
    try {
      // Nothing gets through meanwhile; what was sent would count as lost on the new path.
      this.#connected = false;
      this.#pacer.clear();
      this.#flowing = null;
      const { relays, stun } = this.#ice.relays.gather(servers);
      this.#peer.setConfiguration({ iceServers: stun === null ? [] : [{ urls: stun }] });
      const connection = connectionOf(this.#peer);
      takeOut(connection, this.#ice.log);
      await this.#peer.setRemoteDescription({ type: 'offer', sdp: offer });
      this.#remoteUfrag = ufrag;
      this.#candidates = 0;
      this.#beginIce();
      if (stun === null) delete connection.stunServer;
      const joined = join(connection, relays, () => this.#closed, this.#ice.log);
      await answerOf(this.#peer, this.#offer);
      await joined;
      const answer = this.#offer.answer(descriptionOf(this.#peer));
      this.#localUfrag = ufragOf(answer);
      // werift begins the checks only where DTLS is to follow.
      transportOf(this.#peer)
        .start()
        .then(
          () => this.#resumed(ufrag),
          (error: unknown) => this.#hooks.onGone(`ICE restart: ${messageOf(error)}`),
        );
      for (const candidate of candidates) await this.addCandidate(candidate);
      return fragmentOf(answer);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      throw new ApiError('E_BAD_REQUEST', `ICE cannot be restarted: ${messageOf(error)}.`);
    } finally {
      this.#restarting = false;
    }
  }

  /** @param ufrag of the restart that got through; a later one may have begun */
  #resumed(ufrag: string | null): void {
    if (this.#closed || ufrag !== this.#remoteUfrag) return;
    this.#connected = true;
    this.#hooks.onConnected();
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** What of an `application/trickle-ice-sdpfrag` body is for this playback. */
  fragment(text: string): Fragment {
    return parseFragment(text, this.#offer.mids);
  }

  /** The ICE credentials of the offer; a fragment with other ones is an ICE restart. */
  isSameIce(ufrag: string | null): boolean {
    return ufrag === null || ufrag === this.#remoteUfrag;
  }

  /** Those above the bound are let go. @throws ApiError E_BAD_REQUEST for a line that is not a candidate */
  async addCandidate(candidate: string): Promise<void> {
    if (this.#candidates >= MAX_CANDIDATES) return;
    this.#candidates += 1;
    try {
      const added = this.#peer.addIceCandidate({ candidate, sdpMid: this.#offer.mid, sdpMLineIndex: 0 });
      // A browser's name for its own address, which werift asks the network for. In another network nobody answers, ever; those
      // that come after it are not to wait for that.
      if (LOCAL_NAME.test(candidate)) added.catch(() => undefined);
      else await added;
    } catch (error) {
      throw new ApiError('E_BAD_REQUEST', `A candidate cannot be read: ${messageOf(error)}.`);
    }
  }

  get path(): ViewerPath {
    const { encode, capacityKbps } = this.#adaptation;
    const queue = this.#path.queueMs(this.#hooks.now());
    return {
      encode,
      capacity_kbps: capacityKbps,
      queue_ms: queue === null ? null : Math.round(queue),
      loss: this.#path.loss === null ? null : Math.round(this.#path.loss * 1000) / 1000,
    };
  }

  /** The rate of the small encode that this viewer needs, kbit/s, until the main one flows; null while it does. */
  get smallKbps(): number | null {
    const needs = this.#adaptation.encode === 'small' || this.#flowing === 'small';
    return this.#connected && needs ? this.#adaptation.rateKbps : null;
  }

  /**
   * Sends one picture if it is of the encode that this viewer gets, from a key frame on. It never blocks.
   * @param timestamp of the RTP clock
   */
  send(encode: Encode, parts: readonly RtpPart[], timestamp: number, key: boolean): void {
    if (!this.#connected) return;
    if (key && encode === this.#adaptation.encode) this.#flowing = encode;
    if (encode !== this.#flowing) return;
    this.#timestamp = timestamp;
    this.#pacer.push(parts.map((part) => ({ ...part, timestamp, key, padding: false })));
  }

  /** Looks at the path and decides; called a few times a second. */
  adapt(): void {
    if (!this.#connected) return;
    const now = this.#hooks.now();
    this.#follow(now);
    const before = this.#adaptation.encode;
    const need = this.#hooks.needKbps();
    const path = this.#path;
    const queueMs = path.queueMs(now);
    this.#adaptation.update(
      now,
      {
        congestedMs: path.congestedMs(now),
        capacityKbps: path.takeCapacity(),
        arrivalKbps: path.arrivalKbps,
        loss: path.loss,
      },
      need,
      queueMs !== null,
    );
    const arrived = path.takeProbe();
    if (arrived !== null) this.#adaptation.probed(now, arrived, this.#probeKbps, need);
    // What waits of the main encode would only keep the small one waiting. The other way round the small one goes on until the
    // next key frame of the main one, which comes within a second.
    if (before === 'main' && this.#adaptation.encode === 'small') this.#restart();
    const probe = this.#reportsArrivals && this.#pacer.empty ? this.#adaptation.probe(now, need) : null;
    if (probe !== null) this.#probe(probe);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#connected = false;
    this.#pacer.clear();
    await this.#peer.close();
  }

  /**
   * The browser leads (RFC 8445 8.1.1), and may nominate one pair after the other; werift stays with the first. Checks tell which one it
   * still means: it sends them on the pair that it uses.
   */
  #follow(now: number): void {
    if (now - this.#followedAt < FOLLOW_MS) return;
    this.#followedAt = now;
    const connection = connectionOf(this.#peer);
    const heard = new Map(connection.candidatePairs.map((pair) => [pair.id, pair.requestsReceived]));
    const grew = ({ id, requestsReceived }: { id: string; requestsReceived: number }): boolean =>
      requestsReceived > (this.#checks.get(id) ?? requestsReceived);
    const current = connection.nominated;
    const meant = connection.candidatePairs.find((pair) => pair.nominated && grew(pair));
    if (current !== undefined && meant !== undefined && !grew(current)) connection.nominated = meant;
    this.#checks = heard;
  }

  /** From the next key frame on. */
  #restart(): void {
    this.#pacer.clear();
    this.#flowing = null;
    this.#hooks.onKeyWanted(this.#adaptation.encode);
  }

  /** Padding between two pictures, to see how fast it arrives. */
  #probe(kbps: number): void {
    this.#probeKbps = kbps;
    const count = Math.ceil((kbps * PACE.probeMs) / 8 / (PADDING.length + OVERHEAD_BYTES));
    const from = (this.#sender.dtlsTransport.transportSequenceNumber + 1) & 0xffff;
    this.#path.probe(from, count, kbps);
    const packet = { payload: PADDING, marker: false, timestamp: this.#timestamp, key: false, padding: true };
    this.#pacer.push(Array.from({ length: count }, () => packet));
  }

  #paceKbps(): number {
    const { capacityKbps, encode, rateKbps } = this.#adaptation;
    const known =
      encode === 'small' ? Math.max(rateKbps, capacityKbps ?? 0) * PACE.headroom : PACE.unknownKbps;
    return Math.max(known, this.#path.probing ? this.#probeKbps : 0);
  }

  #sendPacket({ payload, marker, timestamp, key, padding }: Packet): void {
    const header = new RtpHeader({ version: 2, marker, padding, timestamp, sequenceNumber: this.#sequence });
    if (key && this.#delayId !== null) {
      header.extension = true;
      header.extensions = [{ id: this.#delayId, payload: NO_DELAY }];
    }
    this.#sequence = (this.#sequence + 1) & 0xffff;
    // A packet that cannot be sent is a lost packet; the connection's state reports its end.
    this.#sender.sendRtp(new RtpPacket(header, payload)).catch(() => undefined);
    if (this.#reportsArrivals) {
      // werift has just given it this number, before its first await.
      const { transportSequenceNumber } = this.#sender.dtlsTransport;
      this.#path.sent(transportSequenceNumber, payload.length, this.#hooks.now());
    }
  }

  #listen(): void {
    const hooks = this.#hooks;
    // werift's own estimator reads one kind of chunk only and keeps an entry for each packet.
    Object.assign(this.#sender.senderBWE, {
      rtpPacketSent: () => undefined,
      receiveTWCC: (feedback: TransportWideCC) => this.#path.feedback(feedback, hooks.now()),
    });
    this.#peer.connectionStateChange.subscribe((state) => {
      if (state === 'connected') {
        // In a restart it only means that DTLS is as it was.
        if (this.#restarting) return;
        this.#connected = true;
        hooks.onConnected();
      } else if (state === 'failed' || state === 'closed') hooks.onGone(`connection ${state}`);
    });
    this.#sender.onPictureLossIndication.subscribe(() => hooks.onKeyWanted(this.#adaptation.encode));
    this.#sender.onRtcp.subscribe((packet) => {
      hooks.onHeard();
      if (!(packet instanceof RtcpRrPacket)) return;
      const report = packet.reports.find(({ ssrc }) => ssrc === this.#sender.ssrc);
      if (report !== undefined) this.#path.reported(report.fractionLost / 256, hooks.now());
    });
  }
}

/** The one of its one bundle. @throws Error where there is none */
function transportOf(peer: RTCPeerConnection): RTCIceTransport {
  const [transport] = peer.iceTransports;
  if (transport === undefined) throw new Error('there is no transport');
  return transport;
}

function connectionOf(peer: RTCPeerConnection): RTCIceTransport['connection'] {
  return transportOf(peer).connection;
}

/** With the candidates that came since werift made it. */
function descriptionOf(peer: RTCPeerConnection): string {
  const candidates = connectionOf(peer).localCandidates.map((candidate) => candidate.toSdp());
  return withCandidates(peer.localDescription?.sdp ?? '', candidates);
}

/** werift offers none of them: on a cable between two machines there is nothing else. */
function linkLocalAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.map(({ address }) => address).filter((address) => address.startsWith('169.254.'));
}

/** Answers the one section of the offer, in our part of DTLS: werift takes the active one whatever was offered. */
async function answerOf(peer: RTCPeerConnection, { setup }: Offer): Promise<void> {
  const { type, sdp } = await peer.createAnswer();
  await peer.setLocalDescription({ type, sdp: sdp.replace(/^a=setup:\w+/m, `a=setup:${setup}`) });
  await gathered(peer);
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
