import type { Socket } from 'node:dgram';
import { createServer } from 'node:net';
import type { MavlinkEndpoint } from '../../../shared/schemas/addresses.ts';
import { udpSocket } from '../udp-socket.ts';
import type { Endpoint, EndpointTools } from './endpoint.ts';
import { TcpEndpoint } from './tcp-endpoint.ts';
import { UdpEndpoint } from './udp-endpoint.ts';
import { UdpOutEndpoint } from './udp-out-endpoint.ts';

/** The endpoint at an address of the configuration, not started yet. */
export function openEndpoint(address: MavlinkEndpoint, tools: EndpointTools): Endpoint {
  const { kind, host, port } = address;
  const udp = (): Socket => udpSocket(host);
  switch (kind) {
    case 'udp':
      return new UdpEndpoint({ ...tools, host, port, createSocket: udp });
    case 'udpout':
      return new UdpOutEndpoint({ ...tools, host, port, createSocket: udp });
    case 'tcp':
      return new TcpEndpoint({ ...tools, host, port, createServer: () => createServer() });
  }
}
