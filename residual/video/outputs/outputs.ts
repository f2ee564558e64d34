import { isIP } from 'node:net';
import { isOwnHost } from '../../../shared/config/own-endpoint.ts';
import type { AccessUnit, VideoClock } from '../../../shared/media/picture.ts';
import { report } from '../../../shared/media/rtcp.ts';
import { RtpStream } from '../../../shared/media/rtp-stream.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { FOLLOW_MS, MAX_FOLLOWED, type OutputStatus, type SentStatus } from '../../../shared/rpc/video.ts';
import type { HostPort, VideoOutput, VideoSource } from '../../../shared/schemas/addresses.ts';
import { MpegtsStream } from './mpegts-stream.ts';
import { UdpSender } from './udp-sender.ts';

export interface OutputsOptions {
  /** `video.radio`; null: nowhere. */
  readonly radio: HostPort | null;
  readonly outputs: readonly VideoOutput[];
  /** The port of ground stations that are followed; null: none is. */
  readonly followPort: number | null;
  /** Where pictures may come from: nothing is sent back there. */
  readonly sources: readonly VideoSource[];
  /** Names and addresses of this machine. */
  readonly own: () => ReadonlySet<string>;
  /** 0 to 1. */
  readonly random: () => number;
  readonly clock: VideoClock;
  readonly log: Logger;
}

/** Without a picture for so long there is none that finds out. */
const QUIET_US = 900_000;

interface Output {
  readonly kind: VideoOutput['kind'];
  readonly port: number;
  readonly sender: UdpSender;
}

/** Where the main encode goes besides viewers and disk: the radio, the addresses of the config, ground stations. */
export class Outputs {
  readonly #options: OutputsOptions;
  readonly #rtp: RtpStream;
  readonly #mpegts: MpegtsStream;
  readonly #radio: UdpSender | null;
  readonly #configured: readonly Output[];
  /** By IP address. */
  readonly #followed = new Map<string, Output>();
  #followedAt = 0;
  /** The newest picture, on the video clock. */
  #sentAt = 0;

  constructor(options: OutputsOptions) {
    const { radio, outputs, random } = options;
    this.#options = options;
    this.#rtp = new RtpStream(random);
    this.#mpegts = new MpegtsStream((piece) => {
      for (const { kind, sender } of this.#configured) if (kind === 'mpegts') sender.send([piece]);
    });
    this.#radio = radio === null ? null : this.#sender('RTP', radio, true);
    this.#configured = outputs.map(({ kind, ...to }) => ({
      kind,
      port: to.port,
      sender: this.#sender(kind === 'rtp' ? 'RTP' : 'MPEG-TS', to),
    }));
  }

  get followPort(): number | null {
    return this.#options.followPort;
  }

  get radio(): SentStatus | null {
    return this.#radio?.status ?? null;
  }

  /** Whether anybody may receive it. The radio's port is on this machine, where the kernel says if nobody has it open. */
  get wanted(): boolean {
    this.#lapse();
    return this.#configured.length > 0 || this.#followed.size > 0 || this.#radio?.refused === false;
  }

  /**
   * While no pictures come and nobody has the radio's port open, it is told by RTCP that there is a sender (RFC 6263): so it is noticed
   * when somebody opens it. To be called once a second.
   */
  keepAlive(): void {
    const now = this.#options.clock.micros();
    if (this.#radio?.refused === true && now - this.#sentAt >= QUIET_US)
      this.#radio.send([report(this.#rtp.ssrc)]);
  }

  /** Those of the config first. */
  get status(): readonly OutputStatus[] {
    this.#lapse();
    const of =
      (followed: boolean) =>
      ({ kind, port, sender }: Output) => {
        const { status, address } = sender;
        const problem = status.problem ?? (kind === 'mpegts' ? this.#mpegts.problem : null);
        return { ...status, kind, address, port, followed, problem };
      };
    return [...this.#configured.map(of(false)), ...[...this.#followed.values()].map(of(true))];
  }

  /**
   * Follows these ground stations for FOLLOW_MS, and no other.
   * @returns whether one is new: it needs a key frame
   */
  follow(addresses: readonly string[]): boolean {
    const { followPort, clock } = this.#options;
    if (followPort === null) return false;
    this.#followedAt = clock.micros();
    const wanted = new Set(addresses.filter((address) => isIP(address) !== 0).slice(0, MAX_FOLLOWED));
    for (const address of this.#followed.keys()) if (!wanted.has(address)) this.#part(address);
    let isNew = false;
    for (const address of wanted) {
      if (this.#followed.has(address) || this.#isConfigured(address, followPort)) continue;
      const sender = this.#sender('RTP', { host: address, port: followPort });
      this.#followed.set(address, { kind: 'rtp', port: followPort, sender });
      isNew = true;
    }
    return isNew;
  }

  send(unit: AccessUnit): void {
    this.#sentAt = this.#options.clock.micros();
    this.#lapse();
    const receivers = [...this.#configured, ...this.#followed.values()].filter(({ kind }) => kind === 'rtp');
    if (this.#radio !== null || receivers.length > 0) {
      const packets = this.#rtp.packets(unit);
      this.#radio?.send(packets);
      for (const { sender } of receivers) sender.send(packets);
    }
    if (this.#configured.some(({ kind }) => kind === 'mpegts')) this.#mpegts.push(unit);
  }

  async stop(): Promise<void> {
    await this.#mpegts.stop();
    this.#radio?.stop();
    for (const { sender } of this.#configured) sender.stop();
    for (const address of this.#followed.keys()) this.#part(address);
  }

  #isConfigured(address: string, port: number): boolean {
    return this.#configured.some(
      (output) => output.kind === 'rtp' && output.port === port && output.sender.address === address,
    );
  }

  #lapse(): void {
    if (this.#followed.size === 0) return;
    if (this.#options.clock.micros() - this.#followedAt < FOLLOW_MS * 1000) return;
    for (const address of this.#followed.keys()) this.#part(address);
  }

  #part(address: string): void {
    this.#followed.get(address)?.sender.stop();
    this.#followed.delete(address);
  }

  #sender(what: string, to: HostPort, probes = false): UdpSender {
    const { clock, log } = this.#options;
    return new UdpSender({
      to,
      what,
      probes,
      refuse: (address, port) => this.#leadsBack(address, port),
      now: () => clock.micros() / 1000,
      log,
    });
  }

  /** The pictures would come in again, and go out again. */
  #leadsBack(address: string, port: number): string | null {
    const { sources, own } = this.#options;
    const isOwn = isOwnHost(address, own());
    const same = sources.some(
      (source) => source.kind === 'rtp' && source.port === port && (isOwn || address === source.host),
    );
    return same
      ? `${address}:${port} is where this node's own pictures come from (video.source, video.cameras)`
      : null;
  }
}
