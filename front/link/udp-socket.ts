import { createSocket, type Socket, type SocketOptions } from 'node:dgram';
import { lookup as resolve } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';

/**
 * A socket for IPv4 or IPv6, as the host asks. node:dgram looks the address up with every datagram, and waits a turn for the answer
 * even where it is a number: here a number is its own answer, at once.
 * @param host a name or an address
 */
export function udpSocket(host: string, recvBufferSize?: number): Socket {
  return createSocket({
    type: isIPv6(host) ? 'udp6' : 'udp4',
    lookup,
    ...(recvBufferSize === undefined ? {} : { recvBufferSize }),
  });
}

const lookup: SocketOptions['lookup'] = (hostname, options, callback) => {
  const family = isIP(hostname);
  if (family === 0) resolve(hostname, options, callback);
  else callback(null, hostname, family);
};
