import { ApiError } from '../../../shared/errors.ts';
import { isCandidate, MAX_CANDIDATES, type Section, sectionsOf, valueOf } from './sdp.ts';

/**
 * An offer as players make them: audio in front of the video, any BUNDLE policy, any mid (RFC 8829, 9143). werift gets one section,
 * the video with the transport of its BUNDLE group, and what it answers becomes the answer to the whole offer.
 */
export interface Offer {
  /** What werift answers. */
  readonly sdp: string;
  /** Of its one section. */
  readonly mid: string;
  /** Of all sections with the same transport. */
  readonly mids: readonly string[];
  /** Our part in DTLS. */
  readonly setup: 'active' | 'passive';
  /** @param one the answer to `sdp` */
  answer(one: string): string;
}

/** Constrained baseline, which every player decodes; our pictures exceed level 3.1, as those of all senders do. */
export const H264_PARAMETERS = 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f';

/** @throws ApiError E_BAD_REQUEST with the reason for one that cannot be served */
export function readOffer(text: string): Offer {
  const { session, sections } = sectionsOf(text);
  const video = sections.find(isWatched) ?? refuse(whyNotWatched(sections));
  const [format = ''] = h264Of(video);
  const group = groupOf(session, video);
  const shared = group === null ? [video] : sharing(group, sections, video);
  // The first that is accepted and has an address of its own (RFC 9143 7.3.1).
  const tag = shared.find(({ port }) => port !== 0) ?? refuse('no address of its BUNDLE group can be used');
  const places = [tag.lines, video.lines, session];
  const first = (name: string): string | null =>
    places.map((lines) => valueOf(lines, name)).find((value) => value !== null) ?? null;
  const ufrag = first('ice-ufrag');
  const pwd = first('ice-pwd');
  if (ufrag === null || pwd === null) return refuse('it has no a=ice-ufrag and a=ice-pwd');
  const prints = places.map((lines) => linesOf(lines, 'fingerprint')).find((found) => found.length > 0);
  if (prints === undefined) return refuse('it has no a=fingerprint, and pictures go by DTLS alone');
  const setup = first('setup') ?? 'active'; // RFC 4145 4
  if (!/^(?:active|passive|actpass)$/.test(setup)) return refuse(`with a=setup:${setup} nobody connects`);
  const candidates = new Set([...tag.lines, ...video.lines].filter(isUsable));
  const mid = video.mid ?? '0';
  return {
    mid,
    mids: shared.flatMap((each) => each.mid ?? []),
    setup: setup === 'active' ? 'passive' : 'active',
    sdp: [
      'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0',
      `a=group:BUNDLE ${mid}`,
      ...session.filter((line) => line === 'a=ice-lite'),
      `m=video 9 UDP/TLS/RTP/SAVPF ${format}`,
      `a=mid:${mid}`,
      'a=recvonly\r\na=rtcp-mux',
      `a=ice-ufrag:${ufrag}`,
      `a=ice-pwd:${pwd}`,
      ...prints,
      `a=setup:${setup}`,
      `a=rtpmap:${format} H264/90000`,
      `a=fmtp:${format} ${H264_PARAMETERS}`,
      ...formatLines(video, 'rtcp-fb', format),
      ...formatLines(video, 'rtcp-fb', '*'),
      ...linesOf(video.lines, 'extmap'),
      ...[...candidates].slice(0, MAX_CANDIDATES),
      '',
    ].join('\r\n'),
    answer: (one) => wholeAnswer(one, { sections, video, format, tag, shared, grouped: group !== null }),
  };
}

function refuse(why: string): never {
  throw new ApiError('E_BAD_REQUEST', `The offer cannot be answered: ${why}.`);
}

interface Parts {
  readonly sections: readonly Section[];
  readonly video: Section;
  /** The payload type of the H.264 that is sent. */
  readonly format: string;
  /** The section whose address the group has. */
  readonly tag: Section;
  readonly shared: readonly Section[];
  readonly grouped: boolean;
}

function wholeAnswer(one: string, { sections, video, format, tag, shared, grouped }: Parts): string {
  const { session, sections: made } = sectionsOf(one);
  const ours = made.flatMap(({ lines }) => lines.slice(1));
  const addresses = ours.filter((line) => isCandidate(line) || line === 'a=end-of-candidates');
  const transport = ours.filter((line) => /^a=(?:ice-(?:ufrag|pwd|options)|fingerprint|setup):/.test(line));
  const picture = ours.filter(
    (line) => !/^(?:c=|a=(?:mid|fmtp):)/.test(line) && !addresses.includes(line) && !transport.includes(line),
  );
  const answers = sections.flatMap((offered) => {
    const { kind, profile, formats, mid } = offered;
    const accepted = shared.includes(offered);
    const [plain = '0'] = formats;
    const used = offered === video ? format : plain;
    return [
      `m=${kind} ${accepted ? 9 : 0} ${profile} ${used}`,
      'c=IN IP4 0.0.0.0',
      ...(offered === tag ? addresses : []),
      ...transport, // of what is refused, too: webrtcbin takes no section without
      ...(mid === null ? [] : [`a=mid:${mid}`]),
      ...(offered === video ? picture : ['a=inactive']),
      ...(accepted && offered !== video ? ['a=rtcp-mux', ...formatLines(offered, 'rtpmap', used)] : []),
      ...(accepted ? formatLines(offered, 'fmtp', used) : []), // as it was offered (RFC 6184 8.2.2)
    ];
  });
  return [
    ...session.filter((line) => !line.startsWith('a=group:')),
    ...(grouped ? [`a=group:BUNDLE ${shared.map(({ mid }) => mid).join(' ')}`] : []),
    ...answers,
    '',
  ].join('\r\n');
}

/** The mids of the BUNDLE group that the video is in; null where it is in none. */
function groupOf(session: readonly string[], { mid }: Section): readonly string[] | null {
  const groups = linesOf(session, 'group').map((line) => line.trim().split(/\s+/));
  const ours = groups.find(
    ([name, ...mids]) => name === 'a=group:BUNDLE' && mid !== null && mids.includes(mid),
  );
  return ours === undefined ? null : [...new Set(ours.slice(1))];
}

/** The video, and what of its group can be accepted with nothing behind it, in the order of the group. */
function sharing(group: readonly string[], sections: readonly Section[], video: Section): readonly Section[] {
  return group
    .flatMap((mid) => sections.find((each) => each.mid === mid) ?? [])
    .filter((each) => each === video || (isMedia(each) && isOffered(each)));
}

function isMedia({ kind }: Section): boolean {
  return kind === 'audio' || kind === 'video';
}

/** Port 0 offers nothing (RFC 3264 6), unless it is for want of an address of its own in a BUNDLE group (RFC 9143 6). */
function isOffered({ port, lines }: Section): boolean {
  return port !== 0 || lines.includes('a=bundle-only');
}

function isWatched(section: Section): boolean {
  return isOffered(section) && receives(section) && h264Of(section).length > 0;
}

function receives({ lines }: Section): boolean {
  return !lines.includes('a=sendonly') && !lines.includes('a=inactive');
}

function whyNotWatched(sections: readonly Section[]): string {
  const videos = sections.filter((each) => each.kind === 'video' && isOffered(each));
  if (videos.length === 0) return 'it has no video';
  if (!videos.some(receives)) return 'it does not want to receive video';
  const names = videos.flatMap(({ lines }) =>
    lines.flatMap((line) => /^a=rtpmap:\d+ ([\w-]+)\//.exec(line)?.[1] ?? []),
  );
  return `it does not want H.264 video, but ${[...new Set(names)].slice(0, 8).join(', ') || 'nothing that it names'}`;
}

/** The payload types of H.264 of a section, the best one first. */
function h264Of(section: Section): readonly string[] {
  if (section.kind !== 'video') return [];
  const worth = (format: string): number => {
    const [line = ''] = formatLines(section, 'fmtp', format);
    const units = /packetization-mode=1/i.test(line) ? 0 : 2;
    return units + (/profile-level-id=42[0-9a-f]{4}/i.test(line) ? 0 : 1);
  };
  return section.formats
    .filter((format) => /^a=rtpmap:\d+ H264\/90000/i.test(formatLines(section, 'rtpmap', format)[0] ?? ''))
    .toSorted((a, b) => worth(a) - worth(b));
}

function linesOf(lines: readonly string[], name: string): readonly string[] {
  return lines.filter((line) => line.startsWith(`a=${name}:`));
}

/** The attributes of one payload type. */
function formatLines({ lines }: Section, name: string, format: string): readonly string[] {
  return lines.filter((line) => line.startsWith(`a=${name}:${format} `));
}

/** RTP goes with RTCP over one component; what else a candidate may be is not for us (RFC 8839 5.1). */
function isUsable(line: string): boolean {
  return /^a=candidate:\S+ 1 \S+ \d+ \S+ \d+ typ \S/.test(line) || line === 'a=end-of-candidates';
}
