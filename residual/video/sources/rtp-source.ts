import { createSocket, type Socket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { contained } from '../../../shared/async/every.ts';
import { codeOf } from '../../../shared/errors.ts';
import { KeptSets } from '../../../shared/media/kept-sets.ts';
import { instant, type VideoClock } from '../../../shared/media/picture.ts';
import { type AskedCamera, Demand } from './demand.ts';
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
  readonly #asked: AskedCamera | null;
  #demand: Demand | null = null;

  /**
   * @param address of this machine, or of a group that is joined on all of its networks. @param port 0: any
   * @param asked a camera that sends while it hears that somebody listens; without it whoever sends is taken
   */
  constructor(clock: VideoClock, address: string, port: number, asked: AskedCamera | null = null) {
    this.#clock = clock;
    this.#address = address;
    this.#port = port;
    this.#asked = asked;
    this.name = asked?.name ?? `rtp:${address}:${port}`;
  }

  get preparing(): boolean {
    return this.#demand?.preparing ?? false;
  }

  get rests(): boolean {
    return this.#demand?.rests ?? false;
  }

  requestKey(): void {
    this.#demand?.requestKey();
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
    const asked = this.#asked;
    const demand =
      asked === null ? null : new Demand(socket, asked, { clock: this.#clock, sink, random: Math.random });
    this.#demand = demand;
    const depacketizer = new RtpDepacketizer((data, key, codec) => {
      demand?.onPicture();
      sink.onUnit({ codec, data: sets.complete(codec, data, key), key, ...instant(this.#clock) });
    });
    let joining: NodeJS.Timeout | null = null;
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        socket.on('error', reject);
        socket.on('message', (datagram, from) => {
          if (demand?.takes(datagram, from) ?? true) depacketizer.push(datagram, this.#clock.micros());
        });
        // With the group's own address it gets nothing else that comes to this port; those of IPv6 may want a network's name.
        socket.bind(this.#port, group && v6 ? '::' : this.#address, () => {
          demand?.start();
          if (!group) return;
          const joinAll = contained('multicast', () => join(socket, this.#address));
          joinAll();
          joining = setInterval(joinAll, JOIN_MS);
        });
      });
    } finally {
      if (joining !== null) clearInterval(joining);
      await demand?.stop();
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
