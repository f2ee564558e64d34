/**
 * The one parser of each kind of address in the config. The schema's formats use these parsers, and the processes use their
 * results, so that every accepted value works at the start.
 */
import { isIP } from 'node:net';
import { posix } from 'node:path';
import { isWeakJwk } from '../auth/weak-key.ts';
import { isOperatorId, isSelfId, parseOperatorPlace } from '../flight/remote-id.ts';
import { SHOWN_FORM, SHOWN_NAME } from './shown-name.ts';

const SHOWN = new RegExp(SHOWN_NAME, 'u');

/** Where the flight controller is (`mavlink.source`, docs/contract/flight.md). */
export type MavlinkSource =
  | { readonly kind: 'tcp' | 'udp' | 'udpout'; readonly host: string; readonly port: number }
  | { readonly kind: 'serial'; readonly path: string; readonly baud: number }
  | { readonly kind: 'auto' }
  | { readonly kind: 'sim' };

/** Where corrections come from, from `rtk.source`. */
export type RtkSource =
  | Extract<MavlinkSource, { readonly kind: 'serial' }>
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'off' }
  | { readonly kind: 'ntrip' };

/** An endpoint for ground stations, from `mavlink.endpoints`. */
export interface MavlinkEndpoint {
  readonly kind: 'udp' | 'udpout' | 'tcp';
  readonly host: string;
  readonly port: number;
  /** Whether the armed guard on the wire is off for it. */
  readonly force: boolean;
  /** The client that it belongs to, for the rule of the pilot in command; undefined: the rule does not count for it. */
  readonly clientId: string | undefined;
}

/** The source of pictures, from `video.source`. */
export type VideoSource =
  | { readonly kind: 'none' | 'auto' | 'bars' | 'landscape' }
  | { readonly kind: 'v4l2'; readonly device: string }
  | { readonly kind: 'libcamera'; readonly index: number }
  | { readonly kind: 'rtsp'; readonly url: string; readonly host: string }
  | { readonly kind: 'rtp'; readonly host: string; readonly port: number }
  | { readonly kind: 'extension'; readonly id: string };

/** Where the picture goes, from `video.outputs`; `mpegts` is MPEG-TS over UDP. */
export interface VideoOutput {
  readonly kind: 'rtp' | 'mpegts';
  readonly host: string;
  readonly port: number;
}

/** A STUN or TURN server, from `video.ice.servers` (RFC 7064, RFC 7065). */
export interface IceUrl extends HostPort {
  readonly kind: 'stun' | 'turn';
  /** How the server is spoken to; what it relays is always UDP. */
  readonly transport: 'udp' | 'tcp' | 'tls';
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Baud rates that Linux's termios can set, in bit/s: B300 to B4000000. */
const BAUD = { lowest: 300, highest: 4_000_000 } as const;
const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})(?:\.[A-Za-z0-9-]{1,63})*\.?$/;
/** The id of an extension that offers a camera. */
const EXTENSION = /^(?=.{1,128}$)[a-z0-9]+(?:\.[a-z0-9-]+)+$/;
const DEVICE = /^\/dev\/[A-Za-z0-9._/:+-]+$/;

/** A path below /dev that is written as it is meant. */
function isDevice(path: string): boolean {
  return DEVICE.test(path) && posix.normalize(path) === path && !path.endsWith('/');
}

/** `host:port`, `[IPv6]:port`; null if the host is invalid, or the port is not from 1 to 65535. */
export function parseHostPort(text: string): HostPort | null {
  const match = /^(?:\[([^\]]+)\]|(.+)):(\d{1,5})$/.exec(text);
  if (match === null) return null;
  const host = match[1] ?? match[2] ?? '';
  const port = Number(match[3]);
  if (port < 1 || port > 65_535) return null;
  if (match[1] === undefined ? isIP(host) === 0 && !HOST_NAME.test(host) : isIP(host) !== 6) return null;
  return { host, port };
}

function splitKind(text: string): readonly [kind: string, rest: string] {
  const colon = text.indexOf(':');
  return colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
}

/** @returns null if the text has none of the forms of FORMATS['mavlink-source'] */
export function parseMavlinkSource(text: string): MavlinkSource | null {
  const [kind, rest] = splitKind(text);
  switch (kind) {
    case 'auto':
    case 'sim':
      return text === kind ? { kind } : null;
    case 'tcp':
    case 'udp':
    case 'udpout': {
      const address = parseHostPort(rest);
      return address === null ? null : { kind, ...address };
    }
    case 'serial':
      return parseSerial(rest);
    default:
      return null;
  }
}

/** A device and its rate, `/dev/…:baud`. */
function parseSerial(text: string): Extract<MavlinkSource, { readonly kind: 'serial' }> | null {
  const split = text.lastIndexOf(':');
  const path = text.slice(0, split);
  const digits = text.slice(split + 1);
  const baud = Number(digits);
  const fits = /^\d{1,8}$/.test(digits) && baud >= BAUD.lowest && baud <= BAUD.highest;
  return isDevice(path) && fits ? { kind: 'serial', path, baud } : null;
}

/** @returns null if the text has none of the forms of FORMATS['rtk-source'] */
export function parseRtkSource(text: string): RtkSource | null {
  const [kind, rest] = splitKind(text);
  switch (kind) {
    case 'off':
    case 'ntrip':
      return text === kind ? { kind } : null;
    case 'tcp': {
      const address = parseHostPort(rest);
      return address === null ? null : { kind, ...address };
    }
    case 'serial':
      return parseSerial(rest);
    default:
      return null;
  }
}

/** @returns null if the text has none of the forms of FORMATS['mavlink-endpoint'] */
export function parseMavlinkEndpoint(text: string): MavlinkEndpoint | null {
  const [address = '', query = '', ...more] = text.split('?');
  const options = /^(force=1)?&?(?:client_id=([A-Za-z0-9._:-]{1,64}))?$/.exec(query);
  if (options === null || more.length > 0 || /^&|&$/.test(query) || (text.includes('?') && query === ''))
    return null;
  const [kind, rest] = splitKind(address);
  if (kind !== 'udp' && kind !== 'udpout' && kind !== 'tcp') return null;
  const at = parseHostPort(rest);
  return at === null ? null : { kind, ...at, force: options[1] !== undefined, clientId: options[2] };
}

/** @returns null if the text has none of the forms of FORMATS['video-source'] */
export function parseVideoSource(text: string): VideoSource | null {
  const [kind, rest] = splitKind(text);
  switch (kind) {
    case 'none':
    case 'auto':
    case 'bars':
    case 'landscape':
      return text === kind ? { kind } : null;
    case 'test':
      // The older name.
      return text === kind ? { kind: 'bars' } : null;
    case 'libcamera':
      // Without an index the first one.
      return text === kind || /^\d$/.test(rest) ? { kind, index: Number(rest) } : null;
    case 'v4l2':
      return isDevice(rest) ? { kind, device: rest } : null;
    case 'rtsp':
    case 'rtsps': {
      const url = parseUrl(text);
      // A login in the URL would be shown together with the source; it has config keys of its own.
      if (url === null || url.hostname === '' || url.username !== '' || url.password !== '') return null;
      return { kind: 'rtsp', url: text, host: url.host };
    }
    case 'rtp': {
      const address = parseHostPort(rest);
      return address === null || isIP(address.host) === 0 ? null : { kind, ...address };
    }
    case 'extension':
      return EXTENSION.test(rest) ? { kind, id: rest } : null;
    default:
      return null;
  }
}

function parseUrl(text: string): URL | null {
  return /\s/.test(text) || !URL.canParse(text) ? null : new URL(text);
}

/** @returns null if the text has none of the forms of FORMATS['video-output'] */
export function parseVideoOutput(text: string): VideoOutput | null {
  const match = /^(rtp|mpegts):\/\/([^/]+)$/.exec(text);
  const address = parseHostPort(match?.[2] ?? '');
  return address === null ? null : { kind: match?.[1] === 'rtp' ? 'rtp' : 'mpegts', ...address };
}

/** @returns null if the text has none of the forms of FORMATS['ice-url'] */
export function parseIceUrl(text: string): IceUrl | null {
  const [, scheme, authority = '', transport] =
    /^(stun|turns?):([^?]+?)(?:\?transport=(udp|tcp))?$/.exec(text) ?? [];
  if (scheme === undefined || (scheme === 'stun' && transport !== undefined)) return null;
  if (scheme === 'turns' && transport === 'udp') return null; // DTLS, which nobody here speaks
  const at = parseHostPort(authority) ?? parseHostPort(`${authority}:${scheme === 'turns' ? 5349 : 3478}`);
  if (at === null) return null;
  if (scheme === 'stun') return { kind: 'stun', transport: 'udp', ...at };
  return { kind: 'turn', transport: scheme === 'turns' ? 'tls' : transport === 'tcp' ? 'tcp' : 'udp', ...at };
}

function isWebOrigin(text: string): boolean {
  const url = parseUrl(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase();
}

/** An address of tiles: its host is fixed, its path or query has each of {z}, {x} and {y}, and no login. */
function isTileUrl(text: string): boolean {
  const url = parseUrl(text.replaceAll(/\{[zxy]\}/g, '0'));
  if (url === null || !/^https?:$/.test(url.protocol) || /[{}]/.test(decodeURI(url.host))) return false;
  const [, rest = ''] = /^https?:\/\/[^/?#{}]+([/?].*)$/i.exec(text) ?? [];
  return (
    ['{z}', '{x}', '{y}'].every((place) => rest.includes(place)) &&
    !rest.includes('#') &&
    url.username === '' &&
    url.password === ''
  );
}

/** The formats of our schemas: the forms, for the error sentence, and whether a text is one. */
export const FORMATS = {
  'mavlink-source': {
    forms:
      'one of auto, sim, serial:/dev/…:baud (300 to 4000000), udp:host:port, udpout:host:port, tcp:host:port',
    fits: (text: string) => parseMavlinkSource(text) !== null,
  },
  'mavlink-endpoint': {
    forms: 'one of udp:host:port, udpout:host:port, tcp:host:port, each with ?force=1 or without',
    fits: (text: string) => parseMavlinkEndpoint(text) !== null,
  },
  'video-source': {
    forms:
      'one of auto, none, landscape, bars, v4l2:/dev/…, libcamera, libcamera:0 to libcamera:9, rtsp://host/path (without a login), rtp:IP-address:port, extension:ID',
    fits: (text: string) => parseVideoSource(text) !== null,
  },
  'video-output': {
    forms: 'rtp://host:port or mpegts://host:port',
    fits: (text: string) => parseVideoOutput(text) !== null,
  },
  'ice-url': {
    forms:
      'one of stun:host, stun:host:port, turn:host:port, turn:host:port?transport=udp, turn:host:port?transport=tcp, turns:host:port',
    fits: (text: string) => parseIceUrl(text) !== null,
  },
  'rtk-source': {
    forms: 'one of off, ntrip, serial:/dev/…:baud (300 to 4000000), tcp:host:port',
    fits: (text: string) => parseRtkSource(text) !== null,
  },
  'host-or-empty': {
    forms: 'the name or the address of a host, without a port, or empty',
    fits: (text: string) => text === '' || isIP(text) !== 0 || HOST_NAME.test(text),
  },
  'host-port-or-empty': {
    forms: 'host:port with a port from 1 to 65535, or empty',
    fits: (text: string) => text === '' || parseHostPort(text) !== null,
  },
  'ip-address': { forms: 'an IPv4 or IPv6 address', fits: (text: string) => isIP(text) !== 0 },
  'ed25519-key': {
    forms: 'an Ed25519 public key that is not of a small order',
    fits: (text: string) => !isWeakJwk(text),
  },
  'fleet-operator': {
    forms: 'a name and an Ed25519 public key (base64url) that is not of a small order',
    fits: (text: string) => !isWeakJwk(text.slice(text.indexOf(' ') + 1)),
  },
  'operator-id': {
    forms:
      'at most 20 letters, digits and signs of ASCII; of an EU operator number without the dash and the three secret characters, which nobody else may know',
    fits: isOperatorId,
  },
  'self-id': { forms: 'at most 23 letters, digits and signs of ASCII', fits: isSelfId },
  'place-or-empty': {
    forms: 'lat,lon or lat,lon,alt in degrees and metres, or empty',
    fits: (text: string) => text === '' || parseOperatorPlace(text) !== null,
  },
  /** What a person is shown, on a page, on a terminal, in a log. */
  'shown-name': {
    forms: SHOWN_FORM,
    fits: (text: string) => text.isWellFormed() && SHOWN.test(text),
  },
  'tile-url': {
    forms: 'http(s)://host/… with {z}, {x} and {y} behind the host, and without a login',
    fits: isTileUrl,
  },
  'web-origin': { forms: 'http(s)://host or http(s)://host:port', fits: isWebOrigin },
  'web-origin-or-empty': {
    forms: 'http(s)://host or http(s)://host:port, or empty',
    fits: (text: string) => text === '' || isWebOrigin(text),
  },
} as const;

/** The host that a value of this format makes the node log in at; null for none. */
export function destination(format: unknown, value: unknown): string | null {
  if (typeof value !== 'string') return null;
  if (format === 'host-or-empty' || format === 'web-origin-or-empty') return value.toLowerCase();
  if (format !== 'video-source') return null;
  const source = parseVideoSource(value);
  return source?.kind === 'rtsp' ? source.host.toLowerCase() : null;
}

/** @throws Error naming the key: a value that did not pass the schema's format */
export function started<T>(key: string, text: string, parse: (text: string) => T | null): T {
  const parsed = parse(text);
  if (parsed === null) throw new Error(`${key}: ${JSON.stringify(text)} is not an address of its kind.`);
  return parsed;
}
