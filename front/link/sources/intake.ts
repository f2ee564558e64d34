import type { FramerCounters } from '../../../shared/mavlink/framer.ts';
import type { Clock } from '../clock.ts';
import { FrameStream } from '../router/frame-stream.ts';
import type { Router } from '../router/router.ts';
import type { Arming } from '../vehicle/arming.ts';
import type { StateFeed } from '../vehicle/state-feed.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import type { TransportEvents } from './transport.ts';

interface IntakeOptions {
  readonly clock: Clock;
  readonly router: Router;
  readonly arming: Arming;
  readonly vehicle: Vehicle;
  readonly feed: StateFeed;
}

/** What the source brings: its bytes become frames for the router; who is at its other end may have changed with each opening. */
export class Intake implements TransportEvents {
  readonly #options: IntakeOptions;
  readonly #frames: FrameStream;
  /** Bytes of all connections. */
  rxBytes = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
    const { clock, router } = options;
    this.#frames = new FrameStream(clock, (frame) => router.fromSource(frame));
  }

  get framing(): Readonly<FramerCounters> {
    return this.#frames.counters;
  }

  onOpen(): void {
    const { arming, vehicle, feed } = this.#options;
    arming.opened();
    vehicle.connectionOpened();
    feed.importantChanged();
  }

  onData(chunk: Uint8Array): void {
    this.rxBytes += chunk.length;
    this.#frames.push(chunk);
  }

  onClose(): void {
    this.#frames.reset();
    this.#options.feed.importantChanged();
  }

  /** Drops a frame of which a part has come. */
  stop(): void {
    this.#frames.reset();
  }
}
