import { type Rate, TokenBucket } from '../../../shared/async/token-bucket.ts';
import { messageOf } from '../../../shared/errors.ts';
import { Frame } from '../../../shared/mavlink/frame.ts';
import type { Clock } from '../clock.ts';
import type { Target } from '../encode.ts';
import { Addresses, type FrameTarget, targetOf } from './addresses.ts';
import { FIRST_ENDPOINT, type LoopGuard, OWN_TO_ENDPOINTS, OWN_TO_SOURCE, SOURCE } from './loop-guard.ts';
import type { WireGuard, WirePolicy, WireRefusal } from './wire-guard.ts';

/** Bytes that may wait for one endpoint: about a second of a fast link. */
const MAX_QUEUED_BYTES = 64 * 1024;
/** Frames a second that one peer may send to the vehicle, and how many at once. A ground station needs some tens. */
const FRAMES: Rate = { perSecond: 1000, burst: 2000 };

/** So many frames of ours that came back, none later than this after the other, are a loop and no accident. */
const LOOPING_FRAMES = 3;
const LOOPING_MS = 5000;

/** One ground station, or whatever else reads raw frames: what the router asks of its socket. */
export interface FrameSink {
  /** Bytes handed over and not yet with the kernel (`writableLength`, `bufferedAmount`). */
  readonly queuedBytes: number;
  /** Whether it wants this frame at all; absent, it wants every one. */
  accepts?(frame: Frame): boolean;
  /** Takes one whole frame, which it may keep but not write to. Must not wait. */
  send(frame: Buffer): void;
}

export interface PortCounters {
  /** To the endpoint. */
  txFrames: number;
  txBytes: number;
  /** Lost because the endpoint did not read, or failed. */
  txDropped: number;
  /** From the endpoint. */
  rxFrames: number;
  rxBytes: number;
  /** Lost because the source was closed or full. */
  rxDropped: number;
  /** Kept from the vehicle by the wire guard. */
  rxRefused: number;
  /** Kept from the vehicle because the peer sends more than its share. */
  rxLimited: number;
  /** Kept from the vehicle because they came by before, from elsewhere. */
  rxLooped: number;
  /** Monotonic ms when the newest frame came from it; null before the first. */
  lastSeenAt: number | null;
}

/** The router's side of one endpoint. */
export interface RouterPort {
  readonly name: string;
  readonly counters: Readonly<PortCounters>;
  /** A frame that came from the endpoint. */
  receive(frame: Frame): void;
  detach(): void;
}

export interface RouterOptions {
  readonly clock: Clock;
  /** Writes to the flight controller; false when the bytes were dropped. */
  readonly toSource: (bytes: Buffer) => boolean;
  /** The frame as the vehicle takes it: signed, where the vehicle signs. Null: it cannot be, or must not. */
  readonly seal: (frame: Frame) => Buffer | null;
  /** The autopilot, null before it is known: nobody else may speak in its name. */
  readonly autopilot: () => Target | null;
  /** The vehicle model: sees every frame of the source and none of an endpoint (no peer can fake the armed state). */
  readonly onVehicleFrame: (frame: Frame) => void;
  readonly guard: WireGuard;
  readonly loops: LoopGuard;
  /** What a peer hears about its refused frame; see WireAnswers. */
  readonly refusal: (frame: Frame, why: WireRefusal, said: Map<string, number>) => readonly Buffer[];
  /** Called with the first problem of an endpoint and at most once for it. */
  readonly onProblem: (sentence: string) => void;
}

interface Attached {
  readonly id: number;
  readonly name: string;
  readonly sink: FrameSink;
  readonly policy: WirePolicy;
  readonly counters: PortCounters;
  readonly addresses: Addresses;
  /** When it was told what; one entry for each of a handful of sentences. */
  readonly said: Map<string, number>;
  failed: boolean;
  readonly allowance: TokenBucket;
}

/**
 * The raw routing core: frames go untouched to where whom they are for was heard (as mavlink-router does it, and
 * https://mavlink.io/en/guide/routing.html), those for everybody to everybody else; those of the vehicle to the vehicle model
 * too. Where this is more than mavlink-router: an endpoint that never said anything gets all that the vehicle says (it is a
 * listener); a frame for somebody whom no endpoint knows goes to the vehicle, which may; and what claims to be from the
 * autopilot comes from its side only.
 *
 * A frame that the wire guard keeps from the vehicle goes nowhere. Nothing is queued here: each endpoint's own socket queue is
 * looked at, and a slow endpoint loses its own frames, counted, and delays nobody. A frame is copied once however many
 * endpoints there are.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #ports = new Set<Attached>();
  /** Who was heard on the flight controller's side. */
  readonly #behindSource = new Addresses();
  /** Frames on which the vehicle model failed. */
  modelErrors = 0;
  /** Frames of the source that were ours. */
  sourceLooped = 0;
  #nextId = FIRST_ENDPOINT;
  #loopedAt = -Infinity;
  #looped = 0;
  readonly #own = new Frame(Buffer.alloc(0));

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  attach(name: string, sink: FrameSink, policy: WirePolicy): RouterPort {
    const port: Attached = {
      id: this.#nextId++,
      name,
      sink,
      policy,
      counters: {
        txFrames: 0,
        txBytes: 0,
        txDropped: 0,
        rxFrames: 0,
        rxBytes: 0,
        rxDropped: 0,
        rxRefused: 0,
        rxLimited: 0,
        rxLooped: 0,
        lastSeenAt: null,
      },
      addresses: new Addresses(),
      said: new Map(),
      failed: false,
      allowance: new TokenBucket(FRAMES, this.#options.clock.now()),
    };
    this.#ports.add(port);
    return {
      name,
      counters: port.counters,
      receive: (frame) => this.#fromEndpoint(port, frame),
      detach: () => {
        this.#ports.delete(port);
      },
    };
  }

  /** What we send to the source comes back: where no vehicle is heard, it leads to one of our own endpoints. */
  get sourceLoops(): boolean {
    return this.#looped >= LOOPING_FRAMES && this.#options.clock.now() - this.#loopedAt < LOOPING_MS;
  }

  /** Notes a v2 frame that we made ourselves and send to the source. */
  ownFrame(bytes: Buffer): void {
    this.#remember(bytes, OWN_TO_SOURCE);
  }

  /** A v2 frame of ours goes to every endpoint. Nobody may write to it. */
  broadcast(bytes: Buffer): void {
    this.#remember(bytes, OWN_TO_ENDPOINTS);
    for (const port of this.#ports) this.#send(port, this.#own);
  }

  /** A frame of the flight controller. Never throws: a ground station's bytes flow whatever our own model thinks of them. */
  fromSource(frame: Frame): void {
    const { loops } = this.#options;
    const echo = loops.echoOf(frame, SOURCE);
    if (echo !== null) {
      if (echo <= OWN_TO_ENDPOINTS) this.#sawLoop();
      this.sourceLooped++;
      return;
    }
    this.#behindSource.learn(frame);
    if (this.#ports.size > 0) {
      loops.remember(frame, SOURCE);
      const target = targetOf(frame);
      for (const port of this.#ports) {
        if (!port.addresses.any || isMeant(port, frame, target)) this.#send(port, frame);
      }
    }
    try {
      this.#options.onVehicleFrame(frame);
    } catch (error) {
      if (this.modelErrors++ === 0) {
        this.#options.onProblem(`vehicle model failed on message ${frame.id}: ${messageOf(error)}`);
      }
    }
  }

  #remember(bytes: Buffer, from: number): void {
    this.#own.buffer = bytes;
    this.#own.point(0, bytes.length, true);
    this.#options.loops.remember(this.#own, from);
  }

  #sawLoop(): void {
    const now = this.#options.clock.now();
    this.#looped = now - this.#loopedAt < LOOPING_MS ? this.#looped + 1 : 1;
    this.#loopedAt = now;
  }

  #send(port: Attached, frame: Frame): void {
    const { sink } = port;
    if (sink.accepts?.(frame) === false) return;
    if (sink.queuedBytes + frame.length > MAX_QUEUED_BYTES) port.counters.txDropped++;
    else this.#hand(port, frame.bytes());
  }

  #hand(port: Attached, bytes: Buffer): void {
    const { counters, sink } = port;
    try {
      sink.send(bytes);
      counters.txFrames++;
      counters.txBytes += bytes.length;
    } catch (error) {
      counters.txDropped++;
      if (!port.failed) this.#options.onProblem(`endpoint ${port.name}: ${messageOf(error)}`);
      port.failed = true;
    }
  }

  #fromEndpoint(port: Attached, frame: Frame): void {
    if (!this.#ports.has(port)) return; // detached, bytes still under way
    const { counters } = port;
    const { clock, guard, loops, refusal, toSource, autopilot } = this.#options;
    counters.rxFrames++;
    counters.rxBytes += frame.length;
    counters.lastSeenAt = clock.now();
    const echo = loops.echoOf(frame, port.id);
    if (echo !== null) {
      if (echo === OWN_TO_SOURCE) this.#sawLoop();
      counters.rxLooped++;
      return;
    }
    const pilot = autopilot();
    if (pilot !== null && frame.system === pilot.system && frame.component === pilot.component) {
      counters.rxLooped++;
      return;
    }
    if (!port.allowance.take(counters.lastSeenAt)) {
      counters.rxLimited++;
      return;
    }
    const target = targetOf(frame);
    const forSource = this.#behindSource.has(target) || !this.#isElsewhere(port, target);
    let why = guard.judge(frame, port.policy, forSource);
    const sealed = why === null && forSource ? this.#options.seal(frame) : null;
    if (why === null && forSource && sealed === null) why = 'unsigned';
    if (why !== null) {
      counters.rxRefused++;
      for (const answer of refusal(frame, why, port.said)) this.#hand(port, answer);
      return;
    }
    port.addresses.learn(frame);
    loops.remember(frame, port.id);
    if (sealed !== null && !toSource(sealed)) counters.rxDropped++;
    for (const other of this.#ports) {
      if (other !== port && isMeant(other, frame, target)) this.#send(other, frame);
    }
  }

  /** Whether another endpoint knows whom it is for. */
  #isElsewhere(port: Attached, target: FrameTarget): boolean {
    for (const other of this.#ports) if (other !== port && other.addresses.has(target)) return true;
    return false;
  }
}

/** Whether a frame goes to an endpoint: it is for somebody there, and whoever sent it is not there too. */
function isMeant({ addresses }: Attached, frame: Frame, target: FrameTarget): boolean {
  return addresses.has(target) && !addresses.hasSender(frame);
}
