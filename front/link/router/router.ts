import { type Rate, TokenBucket } from '../../../shared/async/token-bucket.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Clock } from '../clock.ts';
import type { Target } from '../encode.ts';
import { Addresses, type FrameTarget, targetOf } from './addresses.ts';
import { FIRST_ENDPOINT, type LoopGuard, OWN_TO_ENDPOINTS, OWN_TO_SOURCE, SOURCE } from './loop-guard.ts';
import type { WireGuard, WirePolicy, WireRefusal } from './wire-guard.ts';

/** Bytes that may wait for one endpoint: about a second of a fast link. */
const MAX_QUEUED_BYTES = 64 * 1024;
/** Frames a second that one peer may send to the vehicle, and how many at once. A ground station needs some tens. */
const FRAMES: Rate = { perSecond: 1000, burst: 2000 };

/** This many of our frames that come back, each within this time after the one before, prove a loop. */
const LOOPING_FRAMES = 3;
const LOOPING_MS = 5000;
/** MAV_TYPE_GCS */
const TYPE_GCS = 6;
/** As long as a silent UDP peer is kept. */
const GROUND_MS = 12_000;

/** One ground station or other reader of raw frames: what the router needs of its socket. */
export interface FrameSink {
  /** The IP address of a peer over UDP. */
  readonly host?: string;
  /** Bytes that the kernel has not taken yet (`writableLength`, `bufferedAmount`). */
  readonly queuedBytes: number;
  /** Whether it wants this frame; if absent, it wants all frames. */
  accepts?(frame: Frame): boolean;
  /** Sends one whole frame. It may keep the buffer but not modify it, and must not block. */
  send(frame: Buffer): void;
}

interface PortCounters {
  /** To the endpoint. */
  txFrames: number;
  txBytes: number;
  /** Frames lost because the endpoint did not read, or failed. */
  txDropped: number;
  /** From the endpoint. */
  rxFrames: number;
  rxBytes: number;
  /** Lost because the source was closed or full. */
  rxDropped: number;
  /** Refused by the wire guard. */
  rxRefused: number;
  /** Refused because the peer sends more than its rate limit. */
  rxLimited: number;
  /** Dropped as echoes. */
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

/** A component of the vehicle's system that this node itself plays towards its endpoints. */
export interface OwnComponent {
  /** Whether the target is this component alone: such a frame goes nowhere else. */
  isFor(target: FrameTarget): boolean;
  /** Whether it obeys this frame: where the vehicle obeys signed frames only, so does it. */
  accepts(frame: Frame): boolean;
  /** A frame for it, or for all components, of a peer that may write. */
  receive(frame: Frame, target: FrameTarget, peer: Asker): void;
}

/** Who sent a frame, and how to answer. */
export interface Asker {
  /** Its IP address, over UDP; null for another peer. */
  readonly host: string | null;
  answer(bytes: Buffer): void;
}

interface RouterOptions {
  readonly clock: Clock;
  /** Writes to the flight controller; false when the bytes were dropped. */
  readonly toSource: (bytes: Buffer) => boolean;
  /** The frame in the form that the vehicle accepts: signed, if the vehicle signs. Null if it cannot or must not be signed. */
  readonly seal: (frame: Frame) => Buffer | null;
  /** The autopilot, null before it is known: endpoints must not send in its name. */
  readonly autopilot: () => Target | null;
  /** The vehicle model: sees every frame of the source and none of an endpoint (no peer can fake the armed state). */
  readonly onVehicleFrame: (frame: Frame) => void;
  /** Sees each frame of an endpoint that goes to the flight controller. */
  readonly onForwarded?: (frame: Frame) => void;
  readonly guard: WireGuard;
  readonly loops: LoopGuard;
  /** The answer to a peer whose frame was refused; see WireAnswers. */
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
  /** When each reason was last sent to this peer; there are only a few reasons. */
  readonly said: Map<string, number>;
  failed: boolean;
  readonly allowance: TokenBucket;
  readonly asker: Asker;
  /** Monotonic ms of its newest heartbeat of a ground station. */
  groundAt: number;
}

/**
 * Routes raw frames, unchanged, as mavlink-router does (https://mavlink.io/en/guide/routing.html): a frame goes to each
 * connection where its target was heard, a broadcast to all others. Frames of the vehicle also go to the vehicle model. Beyond
 * mavlink-router: an endpoint that never sent anything is a listener and gets all frames of the vehicle; a frame for an unknown
 * target goes to the vehicle, which may know it; and a frame in the name of the autopilot is accepted only from the vehicle's
 * side.
 *
 * A frame that the wire guard refuses goes nowhere. The router has no queue: it checks the queue of each endpoint's socket, so
 * a slow endpoint loses only its own frames (counted) and delays no other. A frame is copied once for all endpoints.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #ports = new Set<Attached>();
  /** The addresses heard on the flight controller's side. */
  readonly #behindSource = new Addresses();
  /** Frames on which the vehicle model threw. */
  modelErrors = 0;
  /** Frames of ours that came back from the source. */
  sourceLooped = 0;
  #nextId = FIRST_ENDPOINT;
  #loopedAt = -Infinity;
  #looped = 0;
  #own: OwnComponent | null = null;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** From now on frames for this component are its own. */
  play(own: OwnComponent): void {
    this.#own = own;
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
      asker: {
        host: sink.host ?? null,
        answer: (bytes) => {
          this.#options.loops.rememberOwn(bytes, OWN_TO_ENDPOINTS);
          this.#hand(port, bytes);
        },
      },
      groundAt: -Infinity,
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

  /**
   * Whether our frames to the source come back. If no vehicle is heard either, the source leads to one of our own endpoints.
   */
  get sourceLoops(): boolean {
    return this.#looped >= LOOPING_FRAMES && this.#options.clock.now() - this.#loopedAt < LOOPING_MS;
  }

  /** IP addresses of the ground stations that were heard over UDP lately, the longest known first. */
  get groundStations(): readonly string[] {
    const since = this.#options.clock.now() - GROUND_MS;
    const heard = [...this.#ports].filter(({ groundAt }) => groundAt > since);
    return [...new Set(heard.flatMap(({ asker: { host } }) => host ?? []))];
  }

  /** Whether somebody with this address was heard, on whichever side. */
  knows(target: FrameTarget): boolean {
    if (this.#behindSource.has(target)) return true;
    for (const { addresses } of this.#ports) if (addresses.has(target)) return true;
    return false;
  }

  /** Sends a v2 frame of ours to every endpoint. The buffer must not change afterwards. */
  broadcast(bytes: Buffer): void {
    const frame = this.#options.loops.rememberOwn(bytes, OWN_TO_ENDPOINTS);
    for (const port of this.#ports) this.#send(port, frame);
  }

  /** A frame of the flight controller. Never throws: routing goes on even if the vehicle model fails. */
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
    if (!this.#ports.has(port)) return; // detached while bytes were still queued
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
    const own = this.#own;
    const forOwn = own?.isFor(target) === true;
    const forSource = !forOwn && (this.#behindSource.has(target) || !this.#isElsewhere(port, target));
    let why = guard.judge(frame, port.policy, forSource);
    const sealed = why === null && forSource ? this.#options.seal(frame) : null;
    const isUnsigned = forSource ? sealed === null : forOwn && !own.accepts(frame);
    if (why === null && isUnsigned) why = 'unsigned';
    if (why !== null) {
      counters.rxRefused++;
      for (const answer of refusal(frame, why, port.said)) this.#hand(port, answer);
      return;
    }
    port.addresses.learn(frame);
    if (frame.id === MSG.HEARTBEAT && isGroundStation(frame)) port.groundAt = counters.lastSeenAt;
    loops.remember(frame, port.id);
    if (sealed !== null) {
      if (!toSource(sealed)) counters.rxDropped++;
      this.#options.onForwarded?.(frame);
    }
    own?.receive(frame, target, port.asker);
    if (forOwn) return;
    for (const other of this.#ports) {
      if (other !== port && isMeant(other, frame, target)) this.#send(other, frame);
    }
  }

  /** Whether the target was heard on another endpoint. */
  #isElsewhere(port: Attached, target: FrameTarget): boolean {
    for (const other of this.#ports) if (other !== port && other.addresses.has(target)) return true;
    return false;
  }
}

/** A heartbeat's type follows custom_mode (4 bytes). */
function isGroundStation({ buffer, payloadStart }: Frame): boolean {
  return buffer[payloadStart + 4] === TYPE_GCS;
}

/** Whether a frame goes to an endpoint: its target was heard there, and its sender was not. */
function isMeant({ addresses }: Attached, frame: Frame, target: FrameTarget): boolean {
  return addresses.has(target) && !addresses.hasSender(frame);
}
