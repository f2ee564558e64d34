import { realpath } from 'node:fs/promises';
import { connect } from 'node:net';
import { listSerialPorts } from '../../../shared/flight/serial-ports.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { MavlinkSource } from '../../../shared/schemas/addresses.ts';
import type { Clock } from '../clock.ts';
import { udpSocket } from '../udp-socket.ts';
import { FixedPort } from './fixed-port.ts';
import { openSerial } from './serial-line.ts';
import { SerialScanner } from './serial-scanner.ts';
import { SerialTransport } from './serial-transport.ts';
import { TcpTransport } from './tcp-transport.ts';
import type { Transport } from './transport.ts';
import { UdpTransport } from './udp-transport.ts';

/**
 * About a second of 10 000 messages (measured on Linux 6.18: 2520 datagrams of 60 bytes fit into what 1 MiB asks for, since the kernel
 * counts the packets and not their bytes). It gives at most net.core.rmem_max.
 */
const RECEIVE_BYTES = 4 * 1024 * 1024;

interface SourceTools {
  readonly clock: Clock;
  readonly log: Logger;
  /** `/dev` and `/sys`. */
  readonly dev: string;
  readonly sys: string;
  /** A serial port that is no flight controller's; null: none is. */
  readonly except: string | null;
  /** Our own heartbeat as a frame, for ports that stay silent until they receive one. */
  readonly heartbeat: () => Buffer;
}

/** The transport for a source of the configuration, not started yet; `sim` is a TCP address by then. */
export function openSource(
  source: MavlinkSource,
  { clock, log, dev, sys, except, heartbeat }: SourceTools,
): Transport {
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
        createSocket: () => udpSocket(host, RECEIVE_BYTES),
      });
    }
    case 'serial': {
      const { path, baud } = source;
      const finder = new FixedPort({ path, baud, clock, log, list, open: openSerial });
      return new SerialTransport({ clock, log, finder, releaseSilent: false });
    }
    case 'sim':
      throw new Error(
        'mavlink.source sim without the port of a simulator: svc-link was not started by the supervisor.',
      );
    case 'auto': {
      const others = async (): ReturnType<typeof list> => without(except, await list());
      const finder = new SerialScanner({ clock, log, list: others, open: openSerial, heartbeat });
      return new SerialTransport({ clock, log, finder, releaseSilent: true });
    }
  }
}

async function without(
  except: string | null,
  ports: Awaited<ReturnType<typeof listSerialPorts>>,
): ReturnType<typeof listSerialPorts> {
  if (except === null) return ports;
  const device = await deviceOf(except);
  const devices = await Promise.all(ports.map(async ({ path }) => deviceOf(path)));
  return ports.filter((_, index) => devices[index] !== device);
}

/** Behind the links of udev; the path itself while it is unplugged. */
async function deviceOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
