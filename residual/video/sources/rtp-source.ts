import { createSocket } from 'node:dgram';
import { instant, type VideoClock } from '../engine/picture.ts';
import { RtpDepacketizer } from './rtp-depacketizer.ts';
import type { SourceSink, VideoSource } from './source.ts';

// A key frame arrives as a burst; the kernel's default buffer of 200 kB would lose its end.
const RECEIVE_BYTES = 2 * 1024 * 1024;

/**
 * H.264 or H.265 in RTP over UDP: the input from a ground station's radio. It is passed on unchanged, never decoded and encoded again.
 */
export class RtpSource implements VideoSource {
  readonly name: string;
  readonly #clock: VideoClock;
  readonly #address: string;
  readonly #port: number;

  constructor(clock: VideoClock, address: string, port: number) {
    this.#clock = clock;
    this.#address = address;
    this.#port = port;
    this.name = `rtp:${address}:${port}`;
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const socket = createSocket({
      type: this.#address.includes(':') ? 'udp6' : 'udp4',
      recvBufferSize: RECEIVE_BYTES,
    });
    const depacketizer = new RtpDepacketizer((data, key, codec) => {
      sink.onUnit({ codec, data, key, ...instant(this.#clock) });
    });
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        socket.on('error', reject);
        socket.on('message', (datagram) => depacketizer.push(datagram, this.#clock.micros()));
        socket.bind(this.#port, this.#address);
      });
    } finally {
      socket.close();
    }
  }
}
