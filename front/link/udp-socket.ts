import { createSocket, type Socket, type SocketOptions } from 'node:dgram';
import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { codeOf } from '../../shared/errors.ts';

/** Dynamic ports that few programs ask for (RFC 6335), below those that the kernel gives out. */
const FIRST_PORT = 20_480;
const PORTS = 4096;

/**
 * A socket for IPv4 or IPv6, as the host asks. node:dgram looks the address up with every datagram, and waits a turn for the answer
 * even where it is a number: here a number is its own answer, at once.
 * @param host a name or an address
 */
export function udpSocket(host: string, recvBufferSize?: number): Socket {
  const socket = createSocket({
    type: isIPv6(host) ? 'udp6' : 'udp4',
    lookup,
    ...(recvBufferSize === undefined ? {} : { recvBufferSize }),
  });
  if (isBroadcast(host)) socket.once('listening', () => socket.setBroadcast(true));
  return socket;
}

/**
 * Binds a socket that speaks first, to the same local port each time: a vehicle or a station may go on answering the port that it heard
 * first. Where another program has that, to any.
 * @param host and `port`: of the other end @param bound called once
 */
export function bindTowards(socket: Socket, host: string, port: number, bound: () => void): void {
  let hash = port;
  for (const char of host) hash = (hash * 31 + char.charCodeAt(0)) >>> 0;
  socket.once('listening', bound);
  socket.bind({ port: FIRST_PORT + (hash % PORTS), exclusive: true });
}

/** Whether `bindTowards` met another program at its port; it is bound to another one then. @param error of the socket */
export function tookAnotherPort(socket: Socket, error: Error): boolean {
  const isTaken = codeOf(error) === 'EADDRINUSE';
  if (isTaken) socket.bind({ port: 0, exclusive: true });
  return isTaken;
}

/** Whether an address is everybody's on a network of this machine: a connected socket would hear nobody's answer. */
export function isBroadcast(host: string): boolean {
  if (!isIPv4(host)) return false;
  if (host === '255.255.255.255') return true;
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .some(({ family, cidr }) => family === 'IPv4' && cidr !== null && isLastOf(host, cidr));
}

/** The last address of a network of more than two. */
function isLastOf(host: string, cidr: string): boolean {
  const [network = '', bits = '32'] = cidr.split('/');
  const length = Number(bits);
  if (length > 30) return false;
  const list = new BlockList();
  list.addSubnet(network, length);
  const number = host.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - length);
  return list.check(host) && number % size === size - 1;
}

const lookup: SocketOptions['lookup'] = (hostname, options, callback) => {
  const family = isIP(hostname);
  if (family === 0) resolve(hostname, options, callback);
  else callback(null, hostname, family);
};
