import { createSocket, type Socket } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import type { Endpoint, EndpointTools } from './endpoint.ts';
import { TcpEndpoint } from './tcp-endpoint.ts';
import { UdpEndpoint } from './udp-endpoint.ts';
import { UdpOutEndpoint } from './udp-out-endpoint.ts';

const FORM = /^(udp|udpout|tcp):(.+):(\d{1,5})(\?force=1)?$/;

/** A place for ground stations, as `mavlink.endpoints` names it. */
export interface EndpointAddress {
  readonly kind: 'udp' | 'udpout' | 'tcp';
  readonly host: string;
  readonly port: number;
  /** The armed guard on the wire is off for it. */
  readonly force: boolean;
}

/**
 * `udp:127.0.0.1:14550`, `udpout:192.168.1.5:14550`, `tcp:0.0.0.0:5790`, each with `?force=1` where ground stations may do
 * there what the armed guard forbids; an IPv6 host may stand in brackets.
 * @throws Error a sentence that names the text and the forms that are accepted
 */
export function parseEndpoint(text: string): EndpointAddress {
  const match = FORM.exec(text);
  if (match !== null) {
    const [, kind, host = '', digits, force] = match;
    const port = Number(digits);
    if ((kind === 'udp' || kind === 'udpout' || kind === 'tcp') && port > 0 && port <= 65535) {
      return { kind, host: host.replace(/^\[(.*)\]$/, '$1'), port, force: force !== undefined };
    }
  }
  throw new Error(
    `mavlink.endpoints ${JSON.stringify(text)} is none of udp:host:port, udpout:host:port, tcp:host:port (with ?force=1 or without).`,
  );
}

export function openEndpoint(address: EndpointAddress, tools: EndpointTools): Endpoint {
  const { kind, host, port } = address;
  const udp = (): Socket => createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4' });
  switch (kind) {
    case 'udp':
      return new UdpEndpoint({ ...tools, host, port, createSocket: udp });
    case 'udpout':
      return new UdpOutEndpoint({ ...tools, host, port, createSocket: udp });
    case 'tcp':
      return new TcpEndpoint({ ...tools, host, port, createServer: () => createServer() });
  }
}
