import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import type { Frame } from 'node-av/lib';
import { CODECS } from '../../residual/video/engine/codecs.ts';
import { TestSource } from '../../residual/video/sources/test-source.ts';
import { av } from '../../shared/media/av.ts';
import { H264Encoder } from '../../shared/media/encoder.ts';
import { joinNals, splitNals } from '../../shared/media/h264.ts';
import { systemVideoClock } from '../../shared/media/picture.ts';
import { packetize, rtpTimestamp } from '../../shared/media/rtp-h264.ts';
import { packetize265 } from '../../shared/media/rtp-h265.ts';
import type { VideoCodec } from '../../shared/rpc/video.ts';
import { H265Encoder } from './h265-encoder.ts';

const MAX_SENT = 1000;
const SIZE = { width: 640, height: 360, fps: 15, bitrate_kbps: 800 };

const FORMATS = {
  h264: { name: 'H264', packetize },
  h265: { name: 'H265', packetize: packetize265 },
} as const;

interface Kind {
  /** Without colours, to tell it from another one. */
  readonly grey?: boolean;
  readonly codec?: VideoCodec;
  /** It sends by UDP alone, and refuses TCP with this, or hangs up. */
  readonly udp?: '461 Unsupported Transport' | 'hangs up';
}

/** A network camera: RTSP (RFC 2326) with Basic authentication, its pictures interleaved over the same TCP connection, or by UDP. */
export class RtspCamera {
  readonly #server: Server;
  readonly #login: string | null;
  readonly #stopped = new AbortController();
  /** Who plays, with the sequence number of the next packet. */
  readonly #players = new Map<Socket, number>();
  readonly #codec: VideoCodec;
  readonly #udp: UdpSocket | null;
  readonly #refusal: Kind['udp'] | null;
  /** Where each player by UDP wants its pictures. */
  readonly #ports = new Map<Socket, number>();
  #sets: Buffer = Buffer.alloc(0);
  /** What the newest pictures were sent as, without the parameter sets, which are in the description of the stream alone. */
  readonly sent: Buffer[] = [];
  /** Requests without the login. */
  refused = 0;
  /** What every request had as its login; empty: none. */
  readonly logins: string[] = [];

  private constructor(login: string | null, codec: VideoCodec, udp: Kind['udp']) {
    this.#codec = codec;
    this.#refusal = udp ?? null;
    this.#udp = udp === undefined ? null : createSocket('udp4');
    this.#login = login === null ? null : `Basic ${Buffer.from(login).toString('base64')}`;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** @param login `name:password`; null: everybody may look */
  static async start(
    login: string | null,
    { grey = false, codec = 'h264', udp }: Kind = {},
  ): Promise<RtspCamera> {
    av(); // quiet
    const camera = new RtspCamera(login, codec, udp);
    const encoder = codec === 'h264' ? await H264Encoder.open('libx264', SIZE) : await H265Encoder.open(SIZE);
    const { promise: first, resolve } = Promise.withResolvers<void>();
    let busy = Promise.resolve();
    let waiting = 0;
    const sink = {
      wants: () => true,
      keysOnly: false,
      onUnit: () => undefined,
      onPicture: ({ frame, capturedAt, at }: { frame: Frame; capturedAt: number; at: number }) => {
        // As a camera does it: what it cannot encode in time it leaves out.
        const own = waiting > 1 ? null : frame.clone();
        if (own === null) return;
        waiting++;
        if (grey) for (const plane of own.data?.slice(1) ?? []) plane.fill(128);
        busy = busy.then(async () => {
          for (const unit of await encoder.encode(own, { capturedAt, at }, false)) {
            const sets = CODECS[codec].sets(unit.data);
            camera.#sets = sets ?? camera.#sets;
            camera.#send(codec === 'h264' ? unit.data : without(unit.data, sets), rtpTimestamp(unit.at));
            resolve();
          }
          own.free();
          waiting--;
        });
      },
    };
    void new TestSource(systemVideoClock(), SIZE).run(sink, camera.#stopped.signal);
    await first;
    await new Promise<void>((done) => camera.#server.listen(0, '127.0.0.1', done));
    return camera;
  }

  get url(): string {
    const address = this.#server.address();
    return `rtsp://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/live`;
  }

  /** How many play it now. */
  get playing(): number {
    return this.#players.size;
  }

  /** As a camera that loses its power. */
  drop(): void {
    for (const socket of this.#players.keys()) socket.destroy();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.drop();
    this.#udp?.close();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(socket: Socket): void {
    let text = '';
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => {
      this.#players.delete(socket);
      this.#ports.delete(socket);
    });
    socket.on('data', (chunk: Buffer) => {
      if (chunk[0] === 0x24) return; // the player's RTCP
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        this.#answer(socket, text.slice(0, end));
        text = text.slice(end + 4);
      }
    });
  }

  #answer(socket: Socket, request: string): void {
    const [method = ''] = request.split(' ', 1);
    const header = (name: string): string =>
      new RegExp(`^${name}: *(.*)$`, 'im').exec(request)?.[1]?.trim() ?? '';
    const say = (status: string, lines: readonly string[] = [], body = ''): void => {
      const length = body === '' ? [] : [`Content-Length: ${body.length}`];
      socket.write(
        [`RTSP/1.0 ${status}`, `CSeq: ${header('CSeq')}`, ...lines, ...length, '', body].join('\r\n'),
      );
    };
    if (method === 'OPTIONS') {
      say('200 OK', ['Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN']);
      return;
    }
    this.logins.push(header('Authorization'));
    if (this.#login !== null && header('Authorization') !== this.#login) {
      this.refused++;
      say('401 Unauthorized', ['WWW-Authenticate: Basic realm="camera"']);
      return;
    }
    switch (method) {
      case 'DESCRIBE':
        say('200 OK', ['Content-Type: application/sdp'], this.#sdp());
        return;
      case 'SETUP':
        if (this.#udp !== null) {
          const [, port] = /client_port=(\d+)/.exec(header('Transport')) ?? [];
          if (port === undefined) {
            if (this.#refusal === '461 Unsupported Transport') say(this.#refusal);
            else socket.destroy();
            return;
          }
          this.#ports.set(socket, Number(port));
          say('200 OK', [`Transport: ${header('Transport')};server_port=9-10`, 'Session: 1']);
          return;
        }
        say('200 OK', ['Transport: RTP/AVP/TCP;unicast;interleaved=0-1', 'Session: 1']);
        return;
      case 'PLAY':
        say('200 OK', ['Session: 1']);
        this.#players.set(socket, 0);
        return;
      default:
        say('200 OK', ['Session: 1']);
    }
  }

  #sdp(): string {
    const sets = splitNals(this.#sets).map((nal) => nal.toString('base64'));
    const [vps, sps, pps] = sets;
    const facts = {
      h264: `packetization-mode=1;sprop-parameter-sets=${sets.join(',')}`,
      h265: `sprop-vps=${vps};sprop-sps=${sps};sprop-pps=${pps}`,
    } as const;
    const lines = [
      'v=0',
      'o=- 1 1 IN IP4 127.0.0.1',
      's=camera',
      't=0 0',
      'm=video 0 RTP/AVP 96',
      `a=rtpmap:96 ${FORMATS[this.#codec].name}/90000`,
      `a=fmtp:96 ${facts[this.#codec]}`,
      'a=control:track1',
      '',
    ];
    return lines.join('\r\n');
  }

  #send(unit: Buffer, timestamp: number): void {
    this.sent.push(unit);
    if (this.sent.length > MAX_SENT) this.sent.shift();
    for (const [socket, first] of this.#players) {
      let sequence = first;
      for (const { payload, marker } of FORMATS[this.#codec].packetize(unit)) {
        const packet = Buffer.alloc(16 + payload.length);
        packet[0] = 0x24;
        packet.writeUInt16BE(12 + payload.length, 2);
        packet[4] = 0x80;
        packet[5] = 96 | (marker ? 0x80 : 0);
        packet.writeUInt16BE(sequence, 6);
        packet.writeUInt32BE(timestamp, 8);
        packet.writeUInt32BE(42, 12);
        payload.copy(packet, 16);
        sequence = (sequence + 1) & 0xffff;
        const port = this.#ports.get(socket);
        if (port === undefined) socket.write(packet);
        else this.#udp?.send(packet.subarray(4), port, '127.0.0.1');
      }
      this.#players.set(socket, sequence);
    }
  }
}

/** @param sets in Annex B; null: there are none */
function without(unit: Buffer, sets: Buffer | null): Buffer {
  const out = splitNals(sets ?? Buffer.alloc(0));
  return joinNals(splitNals(unit).filter((nal) => !out.some((each) => each.equals(nal))));
}
