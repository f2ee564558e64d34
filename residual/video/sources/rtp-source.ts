import { createSocket, type Socket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { contained } from '../../../shared/async/every.ts';
import { codeOf } from '../../../shared/errors.ts';
import { KeptSets } from '../engine/kept-sets.ts';
import { instant, type VideoClock } from '../engine/picture.ts';
import { RtpDepacketizer } from './rtp-depacketizer.ts';
import type { SourceSink, VideoSource } from './source.ts';

// A key frame arrives as a burst; the kernel's default buffer of 200 kB would lose its end.
const RECEIVE_BYTES = 2 * 1024 * 1024;
/** A network may come while the camera sends already. */
const JOIN_MS = 2000;
const GROUP = /^(?:22[4-9]|23\d)\.|^ff/i;
/** It was joined there before, or the network is gone meanwhile. */
const NO_NEWS: readonly string[] = ['EADDRINUSE', 'ENODEV', 'EADDRNOTAVAIL'];

/**
 * H.264 or H.265 in RTP over UDP: the input from a ground station's radio, or from a camera. It is passed on unchanged, never decoded
 * and encoded again; only each key frame gets its parameter sets.
 */
export class RtpSource implements VideoSource {
  readonly name: string;
  readonly #clock: VideoClock;
  readonly #address: string;
  readonly #port: number;

  /** @param address of this machine, or of a group that is joined on all of its networks */
  constructor(clock: VideoClock, address: string, port: number) {
    this.#clock = clock;
    this.#address = address;
    this.#port = port;
    this.name = `rtp:${address}:${port}`;
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const group = GROUP.test(this.#address);
    const v6 = this.#address.includes(':');
    const socket = createSocket({
      type: v6 ? 'udp6' : 'udp4',
      recvBufferSize: RECEIVE_BYTES,
      reuseAddr: group, // others on this machine may be in it as well
    });
    const sets = new KeptSets();
    const depacketizer = new RtpDepacketizer((data, key, codec) => {
      sink.onUnit({ codec, data: sets.complete(codec, data, key), key, ...instant(this.#clock) });
    });
    let joining: NodeJS.Timeout | null = null;
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        socket.on('error', reject);
        socket.on('message', (datagram) => depacketizer.push(datagram, this.#clock.micros()));
        // With the group's own address it gets nothing else that comes to this port; those of IPv6 may want a network's name.
        socket.bind(this.#port, group && v6 ? '::' : this.#address, () => {
          if (!group) return;
          const joinAll = contained('multicast', () => join(socket, this.#address));
          joinAll();
          joining = setInterval(joinAll, JOIN_MS);
        });
      });
    } finally {
      if (joining !== null) clearInterval(joining);
      socket.close();
    }
  }
}

/** On each network where it has not been joined: without a default route the kernel would choose none, with one only that. */
function join(socket: Socket, group: string): void {
  const family = group.includes(':') ? 'IPv6' : 'IPv4';
  let problem: unknown = null;
  for (const [name, addresses = []] of Object.entries(networkInterfaces()))
    for (const { address } of addresses.filter((each) => each.family === family))
      try {
        socket.addMembership(group, family === 'IPv6' ? `::%${name}` : address);
      } catch (error) {
        if (!NO_NEWS.includes(codeOf(error) ?? '')) problem = error;
      }
  if (problem !== null) throw problem;
}
