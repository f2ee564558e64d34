import { BlockList, isIPv4, isIPv6, type Socket, SocketAddress } from 'node:net';
import { deferred } from '../../async/deferred.ts';
import { plainAddress } from '../../auth/address.ts';

/**
 * The PROXY protocol, 1 and 2, by which a balancer says who has connected to it: bytes before the first of TLS or HTTP. Source of
 * each fact: haproxy, doc/proxy-protocol.txt (2.1: text, 2.2: binary).
 */

const MAX_V1 = 107;
/** What always comes in one piece (2.2: the smallest TCP segment of IPv4). */
const MAX_BYTES = 536;
const HEADER_MS = 1000;
const V1 = Buffer.from('PROXY ');
const V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n');
const V2_HEAD = 16;
const PORT = '(0|[1-9][0-9]{0,4})';
const V1_LINE = new RegExp(
  // 45: six groups written out, and an IPv4 address behind them.
  `^PROXY (TCP4|TCP6) ([0-9.]{7,15}|[0-9A-Fa-f:.]{2,45}) ([^ ]{2,45}) ${PORT} ${PORT}$`,
);

/** `source`: who has connected to the balancer; null: the balancer itself, which looks whether this side works. */
type ProxyHeader =
  | { readonly kind: 'more' }
  | { readonly kind: 'bad'; readonly why: string }
  | { readonly kind: 'whole'; readonly bytes: number; readonly source: string | null };

const MORE: ProxyHeader = { kind: 'more' };

/**
 * What the first bytes of a connection say.
 * @param bytes as many as have come; `more` is said only where others could still make them a header
 */
export function proxyHeaderOf(bytes: Buffer): ProxyHeader {
  if (startsAlike(bytes, V2)) return bytes.length < V2_HEAD ? MORE : binary(bytes);
  if (startsAlike(bytes, V1)) return text(bytes);
  return bad('it does not begin with a PROXY header');
}

function startsAlike(bytes: Buffer, mark: Buffer): boolean {
  const length = Math.min(bytes.length, mark.length);
  return bytes.subarray(0, length).equals(mark.subarray(0, length));
}

function bad(why: string): ProxyHeader {
  return { kind: 'bad', why };
}

function text(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, MAX_V1).indexOf('\r\n');
  if (end === -1) return bytes.length < MAX_V1 ? MORE : bad(`its line is longer than ${MAX_V1} bytes`);
  const line = bytes.toString('latin1', 0, end);
  const whole = (source: string | null): ProxyHeader => ({ kind: 'whole', bytes: end + 2, source });
  // What follows the word is to be ignored.
  if (line === 'PROXY UNKNOWN' || line.startsWith('PROXY UNKNOWN ')) return whole(null);
  const [, family, source = '', target = '', ...ports] = V1_LINE.exec(line) ?? [];
  const isAddress = family === 'TCP4' ? isIPv4 : isIPv6;
  if (family === undefined || !isAddress(source) || !isAddress(target)) return bad('its line is malformed');
  if (ports.some((port) => Number(port) > 65_535)) return bad('its line has a port that is none');
  return whole(oneSpelling(source));
}

function binary(bytes: Buffer): ProxyHeader {
  const length = V2_HEAD + bytes.readUInt16BE(14);
  if (length > MAX_BYTES) return bad(`it is longer than ${MAX_BYTES} bytes`);
  const [command, family] = [bytes[12], bytes[13]];
  if (command !== 0x20 && command !== 0x21) return bad('its version or command is unknown');
  const addresses = family === 0x11 ? 12 : family === 0x21 ? 36 : null;
  // One that carries somebody, and does not say whom: not to be taken for the balancer.
  if (command === 0x21 && addresses === null) return bad('it names no address of TCP');
  if (command === 0x21 && length < V2_HEAD + (addresses ?? 0)) return bad('its addresses are cut off');
  if (bytes.length < length) return MORE;
  if (command === 0x20) return { kind: 'whole', bytes: length, source: null };
  const source = family === 0x11 ? [...bytes.subarray(16, 20)].join('.') : groups(bytes.subarray(16, 32));
  return { kind: 'whole', bytes: length, source: oneSpelling(source) };
}

function groups(address: Buffer): string {
  return Array.from({ length: 8 }, (_, at) => address.readUInt16BE(at * 2).toString(16)).join(':');
}

/** IPv6 has many spellings of one address. */
function oneSpelling(address: string): string {
  return isIPv4(address) ? address : plainAddress(new SocketAddress({ address, family: 'ipv6' }).address);
}

/**
 * Reads the header of a connection, and leaves what follows it to be read by others.
 * @returns the source, as in `ProxyHeader`
 * @throws Error with what is wrong: malformed, longer than 536 bytes, not there within 1 s, the connection has ended
 */
export async function readProxyHeader(socket: Socket): Promise<string | null> {
  const { promise, resolve, reject } = deferred<string | null>();
  let read = Buffer.alloc(0);
  const late = setTimeout(() => reject(new Error('no PROXY header within 1 s')), HEADER_MS);
  const ended = (): void => reject(new Error('the connection ended before its PROXY header'));
  const look = (): void => {
    for (let piece = take(socket); piece !== null; piece = take(socket)) {
      read = Buffer.concat([read, piece]);
      const found = proxyHeaderOf(read);
      if (found.kind === 'more') continue;
      if (found.kind === 'bad') reject(new Error(`a PROXY header: ${found.why}`));
      else {
        stop();
        if (read.length > found.bytes) socket.unshift(read.subarray(found.bytes));
        resolve(found.source);
      }
      return;
    }
  };
  const stop = (): void => {
    clearTimeout(late);
    socket.off('readable', look).off('end', ended).off('close', ended);
  };
  socket.on('readable', look).on('end', ended).on('close', ended);
  return promise.finally(stop);
}

function take(socket: Socket): Buffer | null {
  const piece: unknown = socket.read();
  return Buffer.isBuffer(piece) ? piece : null;
}

/**
 * @param listed addresses and networks, `10.0.0.5`, `10.1.0.0/16`, `fd00::/8`
 * @throws Error that names what is neither
 */
export function addressList(listed: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of listed) {
    const [address = '', prefix, more] = each.split('/');
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : null;
    const most = family === 'ipv4' ? 32 : 128;
    const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
    // A network of length 0 is everybody.
    if (family === null || more !== undefined || !(bits >= 1 && bits <= most))
      throw new Error(`${each} is no address and no network`);
    list.addSubnet(address, bits, family);
  }
  return list;
}
