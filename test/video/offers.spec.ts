import { expect } from 'chai';
import { RTCPeerConnection, RTCRtpCodecParameters } from 'werift';
import { readOffer } from '../../residual/video/viewers/offer.ts';
import { Relays } from '../../residual/video/viewers/relays.ts';
import { parseFragment, type Section, sectionsOf } from '../../residual/video/viewers/sdp.ts';
import { Unproven } from '../../residual/video/viewers/unproven.ts';
import { Viewer } from '../../residual/video/viewers/viewer.ts';
import { createLogger } from '../../shared/process/logger.ts';

const PRINT = `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`;
const ICE = 'a=ice-ufrag:Zxyw\na=ice-pwd:0123456789abcdef01234567';
const HERE = (port: number): string => `a=candidate:1 1 udp 2122260223 127.0.0.9 ${port} typ host`;
const OPUS = 'a=rtpmap:111 opus/48000/2\na=fmtp:111 minptime=10;useinbandfec=1';
const FMTP = 'a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f';
const H264 = `a=rtpmap:96 VP8/90000\na=rtpmap:102 H264/90000\na=rtcp-fb:102 nack pli\n${FMTP}`;
const HEAD = 'v=0\no=- 4 2 IN IP4 127.0.0.1\ns=-\nt=0 0';
const TRANSPORT = `${ICE}\n${PRINT}\na=setup:actpass`;
const AUDIO = `${TRANSPORT}\na=mid:0\na=recvonly\na=rtcp-mux\n${OPUS}`;
const VIDEO = `${TRANSPORT}\na=mid:1\na=recvonly\na=rtcp-mux\n${H264}`;

/** What is told of each: `audio` and `video` in their order, `-` where it is refused; the section with the addresses in capitals. */
const OFFERS: readonly (readonly [who: string, offer: string, answered: string])[] = [
  [
    'Chromium, balanced',
    `${HEAD}\na=group:BUNDLE 0 1\na=extmap-allow-mixed\na=msid-semantic: WMS\nm=audio 9 UDP/TLS/RTP/SAVPF 111 63\n${AUDIO}\nm=video 9 UDP/TLS/RTP/SAVPF 96 102\n${VIDEO}`,
    'AUDIO video',
  ],
  [
    'Chromium, max-bundle: the video has no address of its own',
    `${HEAD}\na=group:BUNDLE 0 1\nm=audio 40102 UDP/TLS/RTP/SAVPF 111\n${HERE(40102)}\n${AUDIO}\nm=video 0 UDP/TLS/RTP/SAVPF 96 102\na=bundle-only\n${VIDEO}`,
    'AUDIO video',
  ],
  [
    'Chromium, video first, and a data channel',
    `${HEAD}\na=group:BUNDLE 1 0 2\nm=video 9 UDP/TLS/RTP/SAVPF 96 102\n${VIDEO}\nm=audio 0 UDP/TLS/RTP/SAVPF 111\na=bundle-only\n${AUDIO}\nm=application 0 UDP/DTLS/SCTP webrtc-datachannel\na=bundle-only\na=mid:2\na=sctp-port:5000`,
    'VIDEO audio -',
  ],
  [
    'Firefox: the fingerprint is the session’s',
    `v=0\no=mozilla...THIS_IS_SDPARTA-99.0 1 0 IN IP4 0.0.0.0\ns=-\nt=0 0\na=sendrecv\n${PRINT}\na=group:BUNDLE 0 1\na=ice-options:trickle\na=msid-semantic:WMS *\nm=audio 9 UDP/TLS/RTP/SAVPF 111\nc=IN IP4 0.0.0.0\na=recvonly\n${ICE}\na=mid:0\na=setup:actpass\n${OPUS}\nm=video 9 UDP/TLS/RTP/SAVPF 102\nc=IN IP4 0.0.0.0\na=recvonly\n${ICE}\na=mid:1\na=setup:actpass\n${H264}`,
    'AUDIO video',
  ],
  [
    'webrtcbin without a group',
    `${HEAD}\na=ice-options:trickle\nm=audio 9 UDP/TLS/RTP/SAVPF 111\n${AUDIO.replace('mid:0', 'mid:audio0')}\nm=video 9 UDP/TLS/RTP/SAVPF 102\n${TRANSPORT}\na=mid:video1\na=recvonly\na=rtcp-mux\na=rtpmap:102 H264/90000`,
    '- VIDEO',
  ],
  [
    'webrtcbin as whepsrc, max-bundle',
    `${HEAD}\na=group:BUNDLE audio0 video1\nm=audio 9 UDP/TLS/RTP/SAVPF 111\n${AUDIO.replace('mid:0', 'mid:audio0')}\nm=video 0 UDP/TLS/RTP/SAVPF 102\na=bundle-only\na=mid:video1\na=recvonly\na=rtcp-mux\na=rtpmap:102 H264/90000`,
    'AUDIO video',
  ],
  [
    'libdatachannel, as OBS: all of the transport is the session’s',
    `${HEAD}\na=group:BUNDLE audio video\na=msid-semantic:WMS *\na=setup:actpass\n${ICE}\na=ice-options:ice2,trickle\n${PRINT}\nm=audio 9 UDP/TLS/RTP/SAVPF 111\na=mid:audio\na=recvonly\na=rtcp-mux\n${OPUS}\nm=video 9 UDP/TLS/RTP/SAVPF 102\na=mid:video\na=recvonly\na=rtcp-mux\n${H264}`,
    'AUDIO video',
  ],
  [
    'Pion, as mediamtx and go2rtc: each candidate for RTCP too, several profiles',
    `${HEAD}\n${PRINT}\na=extmap-allow-mixed\na=group:BUNDLE 0 1\nm=video 9 UDP/TLS/RTP/SAVPF 96 97 102\na=setup:actpass\na=mid:0\n${ICE}\na=rtcp-mux\na=rtcp-rsize\na=rtpmap:96 H264/90000\na=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640032\na=rtpmap:97 rtx/90000\na=fmtp:97 apt=96\na=rtpmap:102 H264/90000\n${FMTP}\na=recvonly\n${HERE(50000)}\n${HERE(50000).replace(' 1 udp', ' 2 udp')}\na=end-of-candidates\nm=audio 9 UDP/TLS/RTP/SAVPF 111 0\na=setup:actpass\na=mid:1\n${ICE}\na=rtcp-mux\n${OPUS}\na=recvonly`,
    'VIDEO audio',
  ],
  [
    'aiortc: each section with credentials of its own, those of the first count',
    `${HEAD}\na=group:BUNDLE 0 1\na=msid-semantic:WMS *\nm=audio 38110 UDP/TLS/RTP/SAVPF 96 0\n${HERE(38110)}\na=end-of-candidates\n${AUDIO.replaceAll('111', '96')}\nm=video 38112 UDP/TLS/RTP/SAVPF 102\n${HERE(38112)}\n${VIDEO.replace('Zxyw', 'Other')}`,
    'AUDIO video',
  ],
  [
    'two cameras wanted, no mid at all, lines end with \\n alone',
    `${HEAD}\nm=video 9 UDP/TLS/RTP/SAVPF 102\n${TRANSPORT}\n${H264}\nm=video 9 UDP/TLS/RTP/SAVPF 102\n${TRANSPORT}\n${H264}`,
    'VIDEO -',
  ],
  [
    'what was offered before is gone, and the video stands in a group of its own',
    `${HEAD}\na=group:LS 0 1\na=group:BUNDLE 0\na=group:BUNDLE a!b\nm=audio 9 UDP/TLS/RTP/SAVPF 111\n${AUDIO}\nm=video 0 UDP/TLS/RTP/SAVPF 102\na=mid:x\nm=video 9 UDP/TLS/RTP/SAVPF 102\n${VIDEO.replace('mid:1', 'mid:a!b')}`,
    '- - VIDEO',
  ],
];

const REFUSED: readonly (readonly [what: string, offer: string, why: RegExp])[] = [
  ['audio alone', `${HEAD}\nm=audio 9 UDP/TLS/RTP/SAVPF 111\n${AUDIO}`, /it has no video/],
  ['nothing', '', /it has no video/],
  ['JSON', '{"type":"offer"}', /it has no video/],
  [
    'video of other codecs',
    `${HEAD}\nm=video 9 UDP/TLS/RTP/SAVPF 96 98\n${TRANSPORT}\na=mid:0\na=recvonly\na=rtpmap:96 VP8/90000\na=rtpmap:98 VP9/90000`,
    /does not want H\.264 video, but VP8, VP9/,
  ],
  [
    'a camera that sends (WHIP)',
    `${HEAD}\nm=video 9 UDP/TLS/RTP/SAVPF 102\n${VIDEO.replace('recvonly', 'sendonly')}`,
    /does not want to receive/,
  ],
  [
    'no DTLS',
    `${HEAD}\nm=video 9 RTP/AVPF 102\n${ICE}\na=setup:actpass\na=mid:0\na=recvonly\n${H264}`,
    /no a=fingerprint/,
  ],
  [
    'no ICE',
    `${HEAD}\nm=video 9 UDP/TLS/RTP/SAVPF 102\n${PRINT}\na=setup:actpass\na=mid:0\n${H264}`,
    /no a=ice-ufrag/,
  ],
  [
    'nobody connects',
    `${HEAD}\nm=video 9 UDP/TLS/RTP/SAVPF 102\n${VIDEO.replace('actpass', 'holdconn')}`,
    /a=setup:holdconn/,
  ],
  [
    'a group whose one address belongs to a data channel',
    `${HEAD}\na=group:BUNDLE d 1\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\n${TRANSPORT}\na=mid:d\nm=video 0 UDP/TLS/RTP/SAVPF 102\na=bundle-only\n${VIDEO}`,
    /no address of its BUNDLE group/,
  ],
];

describe('offers of players', () => {
  const log = createLogger('test');
  const relays = new Relays({ now: () => 0, log });
  const hooks = {
    onKeyWanted: () => undefined,
    needKbps: () => 1000,
    now: () => 0,
    onConnected: () => undefined,
    onGone: () => undefined,
    onHeard: () => undefined,
  };
  const ice = { relays, unproven: new Unproven(() => 0), servers: [], log };
  const open = async (offer: string): Promise<Viewer> => Viewer.open(offer, hooks, ice, Math.random);

  const has = ({ lines }: Section, start: string): boolean => lines.some((line) => line.startsWith(start));

  for (const [who, offer, answered] of OFFERS)
    it(`${who}: ${answered}`, async () => {
      const viewer = await open(offer.replaceAll('\n', who.includes('\\n') ? '\n' : '\r\n'));
      await viewer.close();
      const [wanted, given] = [sectionsOf(offer), sectionsOf(viewer.answer)];
      const told = given.sections.map((each) => {
        if (each.port === 0) return '-';
        return has(each, 'a=candidate:') ? each.kind.toUpperCase() : each.kind;
      });
      expect(told.join(' ')).to.equal(answered);
      const plain = ({ kind, profile, mid }: Section): object => ({ kind, profile, mid });
      expect(given.sections.map(plain)).to.deep.equal(wanted.sections.map(plain));
      const accepted = given.sections.filter(({ port }) => port !== 0);
      const groups = wanted.session.filter((line) => line.startsWith('a=group:BUNDLE'));
      const members = groups
        .map((line) => line.split(' ').slice(1))
        .find((mids) => accepted.every(({ mid }) => mids.includes(mid ?? '')));
      expect(given.session.filter((line) => line.startsWith('a=group:'))).to.deep.equal(
        members === undefined
          ? []
          : [
              `a=group:BUNDLE ${members.filter((mid) => accepted.some((each) => each.mid === mid)).join(' ')}`,
            ],
      );
      for (const [at, section] of given.sections.entries()) {
        const pictures = section.kind === 'video' && section.port !== 0;
        expect(section.lines).to.include(pictures ? 'a=sendonly' : 'a=inactive');
        expect(has(section, 'a=setup:active')).to.equal(true);
        expect(section.formats).to.have.length(1);
        expect(wanted.sections[at]?.formats).to.include(section.formats[0]);
        if (pictures) expect(section.lines).to.include('a=rtpmap:102 H264/90000');
        // The profile is the one that was offered (RFC 6184 8.2.2).
        expect(section.lines.includes(FMTP)).to.equal(
          pictures && wanted.sections[at]?.lines.includes(FMTP) === true,
        );
      }
    });

  for (const [what, offer, why] of REFUSED)
    it(`with the reason: ${what}`, async () => {
      const error: unknown = await open(offer).then(
        () => null,
        (reason: unknown) => reason,
      );
      expect(error).to.have.property('code', 'E_BAD_REQUEST');
      expect(error).to.have.property('message').that.matches(why);
    });

  it('the transport is that of the section whose address the group has', () => {
    const offer = OFFERS.find(([who]) => who.startsWith('aiortc'))?.[1] ?? '';
    const { sdp } = readOffer(offer);
    expect(sdp).to.include('a=ice-ufrag:Zxyw').and.include(' 38110 typ host');
  });

  for (const [setup, ours] of [
    ['active', 'passive'],
    ['passive', 'active'],
    ['actpass', 'active'],
  ] as const)
    it(`a=setup:${setup} is answered ${ours}, and connects`, async () => {
      const peer = new RTCPeerConnection({
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
      const { promise: connected, resolve } = Promise.withResolvers<void>();
      const offer = peer.localDescription?.sdp.replaceAll('a=setup:actpass', `a=setup:${setup}`) ?? '';
      const viewer = await Viewer.open(offer, { ...hooks, onConnected: resolve }, ice, Math.random);
      try {
        expect(viewer.answer).to.include(`a=setup:${ours}`);
        await peer.setRemoteDescription({ type: 'answer', sdp: viewer.answer });
        await connected;
      } finally {
        await viewer.close();
        await peer.close();
      }
    });

  it('candidates that come later count by the mid of their section (RFC 8840)', () => {
    const at = (port: number): string => HERE(port).slice(2);
    const text = `a=ice-ufrag:Zxyw\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n${HERE(1)}\r\nm=video 9 RTP/AVP 0\r\na=mid:1\r\n${HERE(2)}\r\na=end-of-candidates\r\n`;
    expect(parseFragment(text, ['1'])).to.deep.equal({ candidates: [at(2)], ufrag: 'Zxyw', pwd: null });
    expect(parseFragment(text, ['0', '1']).candidates).to.deep.equal([at(1), at(2)]);
    expect(parseFragment(`${HERE(3)}\n`, ['1']).candidates).to.deep.equal([at(3)]);
    expect(parseFragment(`m=video 9 RTP/AVP 0\n${HERE(4)}\n`, ['1']).candidates).to.deep.equal([at(4)]);
  });
});
