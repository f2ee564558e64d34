import type { Frame } from '../../../shared/mavlink/frame.ts';
import type { FramerCounters } from '../../../shared/mavlink/framer.ts';
import type { Clock } from '../clock.ts';
import { FrameStream } from '../router/frame-stream.ts';
import type { Router } from '../router/router.ts';
import type { Arming } from '../vehicle/arming.ts';
import type { StateFeed } from '../vehicle/state-feed.ts';
import type { Vehicle } from '../vehicle/vehicle.ts';
import type { OldProtocol } from './old-protocol.ts';
import type { Transport, TransportEvents } from './transport.ts';

interface IntakeOptions {
  readonly clock: Clock;
  readonly router: Router;
  readonly arming: Arming;
  readonly vehicle: Vehicle;
  readonly oldProtocol: OldProtocol;
  readonly feed: StateFeed;
  readonly transport: Transport;
}

/** What is told of the framing. */
type Counted = Pick<FramerCounters, 'frames' | 'badCrc' | 'garbageBytes'>;

/** What the source brings: its bytes become frames for the router; who is at its other end may have changed with each opening. */
export class Intake implements TransportEvents {
  readonly #options: IntakeOptions;
  /** Of a line with one sender. */
  readonly #frames: FrameStream;
  /** Of the others: what one begins in a datagram no other goes on with. As many as the transport has peers. */
  readonly #senders = new Map<string, FrameStream>();
  readonly #left: Counted = { frames: 0, badCrc: 0, garbageBytes: 0 };
  /** Bytes of all connections. */
  rxBytes = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
    const { clock, router } = options;
    this.#frames = new FrameStream(clock, (frame) => router.fromSource(frame));
  }

  /** Counted over all senders. */
  get framing(): Readonly<Counted> {
    const sum = { ...this.#left };
    for (const { counters } of [this.#frames, ...this.#senders.values()]) add(sum, counters);
    return sum;
  }

  onOpen(): void {
    const { arming, vehicle, oldProtocol, feed } = this.#options;
    arming.opened();
    oldProtocol.opened();
    vehicle.connectionOpened();
    feed.importantChanged();
  }

  onData(chunk: Uint8Array, from?: string): void {
    this.rxBytes += chunk.length;
    (from === undefined ? this.#frames : this.#streamOf(from)).push(chunk);
  }

  onGone(from: string): void {
    const stream = this.#senders.get(from);
    if (stream === undefined) return;
    stream.reset();
    add(this.#left, stream.counters);
    this.#senders.delete(from);
  }

  onClose(): void {
    const { vehicle, feed } = this.#options;
    this.stop();
    vehicle.connectionClosed();
    feed.importantChanged();
  }

  /** Drops a frame of which a part has come. */
  stop(): void {
    this.#frames.reset();
    for (const from of this.#senders.keys()) this.onGone(from);
  }

  #streamOf(from: string): FrameStream {
    const known = this.#senders.get(from);
    if (known !== undefined) return known;
    const { clock, router } = this.#options;
    const stream = new FrameStream(clock, (frame) => {
      router.fromSource(frame);
      this.#learn(frame, from);
    });
    this.#senders.set(from, stream);
    return stream;
  }

  /** After the frame was looked at: it may be the one that shows which vehicle is ours. */
  #learn(frame: Frame, from: string): void {
    if (!frame.known) return; // its checksum proves nothing
    const { transport, vehicle } = this.#options;
    const { target } = vehicle;
    const isVehicle = target?.system === frame.system && target.component === frame.component;
    transport.learn?.(frame, from, isVehicle);
  }
}

function add(sum: Counted, { frames, badCrc, garbageBytes }: Readonly<Counted>): void {
  sum.frames += frames;
  sum.badCrc += badCrc;
  sum.garbageBytes += garbageBytes;
}
