import type { Socket } from 'node:dgram';
import { every } from '../../../shared/async/every.ts';
import type { VideoClock } from '../../../shared/media/picture.ts';
import { goodbye, isControl, keyRequest, REPORTS_MS, report } from '../../../shared/media/rtcp.ts';
import type { SourceSink } from './source.ts';

/** A camera of this machine that sends RTP to whoever tells it by RTCP that he listens. */
export interface AskedCamera {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

const LIMITS = {
  /** From one question whether anybody wants pictures to the next, and of reports while nothing comes. */
  lookMs: 100,
  silentMs: 300,
  /** Without a word it is not there. */
  goneMs: 3000,
} as const;
const SSRC_AT = 8;

/** Tells such a camera that somebody listens while somebody wants its pictures, from the start until the first. */
export class Demand {
  readonly #socket: Socket;
  readonly #camera: AskedCamera;
  readonly #clock: VideoClock;
  readonly #sink: SourceSink;
  readonly #ssrc: number;
  #asks = false;
  #toldAt = -Infinity;
  #controlAt = -Infinity;
  #pictureAt: number | null = null;
  /** The SSRC of what comes. */
  #media = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    socket: Socket,
    camera: AskedCamera,
    {
      clock,
      sink,
      random,
    }: { readonly clock: VideoClock; readonly sink: SourceSink; readonly random: () => number },
  ) {
    this.#socket = socket;
    this.#camera = camera;
    this.#clock = clock;
    this.#sink = sink;
    this.#ssrc = Math.floor(random() * 2 ** 32);
  }

  /** Nobody wants pictures: none come. */
  get rests(): boolean {
    return !this.#asks;
  }

  /** It is there, and has nothing to show yet. */
  get preparing(): boolean {
    return this.#pictureAt === null && this.#now - this.#controlAt < LIMITS.goneMs;
  }

  /** Once the socket is bound. */
  start(): void {
    this.#timer = every(LIMITS.lookMs, this.#camera.name, () => this.#look());
    this.#look();
  }

  /** Resolves when the goodbye is sent, before the socket is closed. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#leave();
  }

  /** Whether a datagram is RTP from this camera. @param from whose it is */
  takes(datagram: Buffer, from: { readonly address: string; readonly port: number }): boolean {
    if (from.port !== this.#camera.port || from.address !== this.#camera.host) return false;
    if (isControl(datagram)) {
      this.#controlAt = this.#now;
      return false;
    }
    if (datagram.length >= SSRC_AT + 4) this.#media = datagram.readUInt32BE(SSRC_AT);
    return true;
  }

  onPicture(): void {
    this.#pictureAt = this.#now;
  }

  requestKey(): void {
    if (this.#asks) void this.#tell(keyRequest(this.#ssrc, this.#media));
  }

  get #now(): number {
    return this.#clock.micros() / 1000;
  }

  #look(): void {
    const now = this.#now;
    if (this.#pictureAt !== null && !this.#sink.wants(this.#clock.micros())) {
      void this.#leave();
      return;
    }
    const isSilent = now - (this.#pictureAt ?? -Infinity) > LIMITS.silentMs;
    if (this.#asks && now - this.#toldAt < (isSilent ? LIMITS.silentMs : REPORTS_MS.every)) return;
    this.#asks = true;
    void this.#tell(report(this.#ssrc));
  }

  async #leave(): Promise<void> {
    const asked = this.#asks;
    this.#asks = false;
    if (asked) await this.#tell(goodbye(this.#ssrc));
  }

  /** What is lost is told again, or forgotten there after a while. */
  async #tell(packet: Buffer): Promise<void> {
    this.#toldAt = this.#now;
    await new Promise<void>((resolve) =>
      this.#socket.send(packet, this.#camera.port, this.#camera.host, () => resolve()),
    );
  }
}
