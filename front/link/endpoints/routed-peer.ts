import type { Frame } from '../../../shared/mavlink/frame.ts';
import type { PeerStatus } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import { FrameStream } from '../router/frame-stream.ts';
import type { FrameSink, Router, RouterPort } from '../router/router.ts';
import type { WirePolicy } from '../router/wire-guard.ts';

/** One peer of an endpoint: turns its bytes into frames and connects it to the router. */
export class RoutedPeer {
  readonly #clock: Clock;
  readonly #port: RouterPort;
  readonly #frames: FrameStream;
  /** Monotonic ms when its newest whole frame came, of its start before. */
  heardAt: number;

  #verified = false;
  /** Frames that were not the peer's to send. */
  #foreign = 0;

  /** @param allows what the peer may send at all, before the wire guard; absent: anything */
  constructor(
    name: string,
    clock: Clock,
    router: Router,
    sink: FrameSink,
    policy: WirePolicy,
    allows: (frame: Frame) => boolean = () => true,
  ) {
    this.#clock = clock;
    this.#port = router.attach(name, sink, policy);
    this.#frames = new FrameStream(clock, (frame) => {
      this.heardAt = clock.now();
      this.#verified ||= frame.known;
      if (allows(frame)) this.#port.receive(frame);
      else this.#foreign++;
    });
    this.heardAt = clock.now();
  }

  /** A frame that the node sends in the peer's name. */
  speak(frame: Frame): void {
    this.#port.receive(frame);
  }

  push(bytes: Uint8Array): void {
    this.#frames.push(bytes);
  }

  /** A whole frame with a right checksum has come from it: only then it counts as a ground station. */
  get verified(): boolean {
    return this.#verified;
  }

  /** Whole frames that came from it so far. */
  get frames(): number {
    return this.#frames.counters.frames;
  }

  detach(): void {
    this.#frames.reset();
    this.#port.detach();
  }

  get status(): PeerStatus {
    const { name, counters } = this.#port;
    const { lastSeenAt } = counters;
    return {
      name,
      tx_frames: counters.txFrames,
      tx_bytes: counters.txBytes,
      tx_dropped: counters.txDropped,
      rx_frames: counters.rxFrames,
      rx_bytes: counters.rxBytes,
      rx_dropped: counters.rxDropped,
      rx_refused: counters.rxRefused + this.#foreign,
      rx_limited: counters.rxLimited,
      rx_looped: counters.rxLooped,
      rx_bad_crc: this.#frames.counters.badCrc,
      last_seen_s: lastSeenAt === null ? null : Math.round(this.#clock.now() - lastSeenAt) / 1000,
    };
  }
}
