import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { HostPort } from '../../../shared/config/addresses.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { RadioStatus } from '../../../shared/rpc/video.ts';
import { packetize, rtpTimestamp } from '../rtp-h264.ts';
import type { AccessUnit } from './picture.ts';

const PAYLOAD_TYPE = 96;
const HEADER_BYTES = 12;
// One line a minute at most: nobody listening yet is the normal case before the radio is up.
const COMPLAIN_MS = 60_000;

/** Sends every picture as RTP to the radio's UDP port (docs/contract.md 7). It never blocks. */
export class RadioSender {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #port: number;
  readonly #ssrc: number;
  readonly #log: Logger;
  #sequence: number;
  #packets = 0;
  #bytes = 0;
  #failed = 0;
  #complainedAt = -COMPLAIN_MS;

  /** @param random 0 to 1, twice: RFC 3550 wants an unpredictable SSRC and first sequence number */
  constructor({ host, port }: HostPort, random: () => number, log: Logger) {
    this.#host = host;
    this.#port = port;
    this.#ssrc = Math.floor(random() * 2 ** 32) >>> 0;
    this.#sequence = Math.floor(random() * 2 ** 16);
    this.#log = log;
    this.#socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.unref();
  }

  send(unit: AccessUnit): void {
    const timestamp = rtpTimestamp(unit.at);
    for (const { payload, marker } of packetize(unit.data)) {
      const packet = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
      packet[0] = 0x80;
      packet[1] = PAYLOAD_TYPE | (marker ? 0x80 : 0);
      packet.writeUInt16BE(this.#sequence, 2);
      packet.writeUInt32BE(timestamp, 4);
      packet.writeUInt32BE(this.#ssrc, 8);
      payload.copy(packet, HEADER_BYTES);
      this.#sequence = (this.#sequence + 1) & 0xffff;
      this.#packets++;
      this.#bytes += packet.length;
      this.#socket.send(packet, this.#port, this.#host, (error) => {
        if (error !== null) this.#fail(error);
      });
    }
  }

  status(): RadioStatus {
    return {
      to: `${this.#host}:${this.#port}`,
      packets: this.#packets,
      bytes: this.#bytes,
      failed: this.#failed,
    };
  }

  stop(): void {
    this.#socket.close();
  }

  #fail(error: Error): void {
    this.#failed++;
    const now = performance.now();
    if (now - this.#complainedAt < COMPLAIN_MS) return;
    this.#complainedAt = now;
    this.#log.warn(`video: RTP to ${this.#host}:${this.#port}: ${messageOf(error)}`);
  }
}
