import { messageOf } from '../../shared/errors.ts';
import type { Frame } from '../../shared/mavlink/frame.ts';

/** Bytes that may wait for one endpoint: about a second of a fast link. */
const MAX_QUEUED_BYTES = 64 * 1024;

/** One ground station, or whatever else reads raw frames: what the router asks of its socket. */
export interface FrameSink {
  /** Bytes handed over and not yet with the kernel (`writableLength`, `bufferedAmount`). */
  readonly queuedBytes: number;
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
}

/** The router's side of one endpoint. */
export interface RouterPort {
  readonly name: string;
  readonly counters: Readonly<PortCounters>;
  /** A frame that came from the endpoint: it goes to the source only, never to another endpoint or back. */
  receive(frame: Frame): void;
  detach(): void;
}

export interface RouterOptions {
  /** Writes to the flight controller; false when the bytes were dropped. */
  readonly toSource: (bytes: Buffer) => boolean;
  /** The vehicle model: sees every frame of the source and none of an endpoint (no peer can fake the armed state). */
  readonly onVehicleFrame: (frame: Frame) => void;
  /** Called with the first problem of an endpoint and at most once for it. */
  readonly onProblem: (sentence: string) => void;
}

interface Attached {
  readonly name: string;
  readonly sink: FrameSink;
  readonly counters: PortCounters;
  failed: boolean;
}

/**
 * The raw routing core: frames of the vehicle go untouched to every endpoint and to the vehicle model, frames of endpoints
 * go to the vehicle. Nothing is queued here: each endpoint's own socket queue is looked at, and a slow endpoint loses its
 * own frames, counted, and delays nobody. A frame is copied once however many endpoints there are.
 */
export class Router {
  readonly #options: RouterOptions;
  readonly #ports = new Set<Attached>();
  /** Frames on which the vehicle model failed. */
  modelErrors = 0;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  attach(name: string, sink: FrameSink): RouterPort {
    const port: Attached = {
      name,
      sink,
      counters: { txFrames: 0, txBytes: 0, txDropped: 0, rxFrames: 0, rxBytes: 0, rxDropped: 0 },
      failed: false,
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

  /** A frame of the flight controller. Never throws: a ground station's bytes flow whatever our own model thinks of them. */
  fromSource(frame: Frame): void {
    for (const port of this.#ports) this.#send(port, frame);
    try {
      this.#options.onVehicleFrame(frame);
    } catch (error) {
      if (this.modelErrors++ === 0) {
        this.#options.onProblem(`vehicle model failed on message ${frame.id}: ${messageOf(error)}`);
      }
    }
  }

  #send(port: Attached, frame: Frame): void {
    const { counters, sink } = port;
    try {
      if (sink.queuedBytes + frame.length > MAX_QUEUED_BYTES) {
        counters.txDropped++;
        return;
      }
      sink.send(frame.bytes());
      counters.txFrames++;
      counters.txBytes += frame.length;
    } catch (error) {
      counters.txDropped++;
      if (!port.failed) this.#options.onProblem(`endpoint ${port.name}: ${messageOf(error)}`);
      port.failed = true;
    }
  }

  #fromEndpoint(port: Attached, frame: Frame): void {
    if (!this.#ports.has(port)) return; // detached, bytes still under way
    port.counters.rxFrames++;
    port.counters.rxBytes += frame.length;
    if (!this.#options.toSource(frame.bytes())) port.counters.rxDropped++;
  }
}
