import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { Logger } from '../../../shared/logger.ts';
import type { Clock } from '../clock.ts';
import { FixedPort } from './fixed-port.ts';
import { openSerial } from './serial-line.ts';
import { listSerialPorts } from './serial-ports.ts';
import { SerialScanner } from './serial-scanner.ts';
import { SerialTransport } from './serial-transport.ts';
import type { Source } from './source.ts';
import { TcpTransport } from './tcp-transport.ts';
import type { Transport } from './transport.ts';
import { UdpTransport } from './udp-transport.ts';

export interface SourceTools {
  readonly clock: Clock;
  readonly log: Logger;
  /** `/dev` and `/sys`. */
  readonly dev: string;
  readonly sys: string;
  /** Our own heartbeat as a frame, for ports that wait to be spoken to. */
  readonly heartbeat: () => Buffer;
}

/** The transport for a source of the configuration, not started yet. */
export function openSource(source: Source, { clock, log, dev, sys, heartbeat }: SourceTools): Transport {
  const list = async (): ReturnType<typeof listSerialPorts> => listSerialPorts(dev, sys);
  switch (source.kind) {
    case 'tcp':
      return new TcpTransport({ host: source.host, port: source.port, clock, log, connect });
    case 'udp':
    case 'udpout': {
      const { host, port } = source;
      return new UdpTransport({
        mode: source.kind === 'udp' ? 'listen' : 'connect',
        host,
        port,
        clock,
        log,
        createSocket: () => createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', reuseAddr: false }),
      });
    }
    case 'serial': {
      const { path, baud } = source;
      const finder = new FixedPort({ path, baud, clock, log, list, open: openSerial });
      return new SerialTransport({ clock, log, finder, releaseSilent: false });
    }
    case 'auto': {
      const finder = new SerialScanner({ clock, log, list, open: openSerial, heartbeat });
      return new SerialTransport({ clock, log, finder, releaseSilent: true });
    }
  }
}
