import { messageOf } from '../../../shared/errors.ts';
import type { SerialPortEntry } from '../../../shared/flight/serial-ports.ts';
import { isAutopilot } from '../../../shared/mavlink/autopilot-heartbeat.ts';
import { decodeHeartbeat } from '../../../shared/mavlink/decode.ts';
import { Framer } from '../../../shared/mavlink/framer.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock, Timer } from '../clock.ts';
import type { OpenSerial, SerialLine } from './serial-line.ts';

/** The rates that flight controllers come with: telemetry radios, ArduPilot's default, companion ports. */
const PROBE_BAUDS = [57_600, 115_200, 921_600] as const;
/** Two heartbeats at 1 Hz, so that one may be lost. */
const PROBE_MS = 2200;
const LOOK_MS = 500;
/** Wait before a port without a heartbeat is probed again: another program may need it. */
const REST_MS = 10_000;
const MAX_PROBES = 4;
/** Bytes read while probing are passed on to the caller; more than this is noise. */
const MAX_KEPT_BYTES = 16 * 1024;
const BEAT_MS = 500;

export interface FoundPort {
  readonly port: SerialPortEntry;
  readonly baud: number;
  readonly line: SerialLine;
  /** What the line has brought already. */
  readonly received: readonly Uint8Array[];
}

interface SerialScannerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly list: () => Promise<readonly SerialPortEntry[]>;
  readonly open: OpenSerial;
  /** Our own heartbeat as a frame. PX4 starts MAVLink on its USB port only after it has received some. */
  readonly heartbeat: () => Buffer;
}

/**
 * Looks for the flight controller among the serial ports: each port is opened at 57600, 115200 and 921600 baud for as long as
 * two heartbeats take, up to four ports at once, and closed again without one. The first autopilot's heartbeat ends the search.
 */
export class SerialScanner {
  readonly #options: SerialScannerOptions;
  /** When a port may be probed again, by its path. */
  readonly #rested = new Map<string, number>();
  readonly #probing = new Map<string, AbortController>();
  #last: { readonly name: string; readonly baud: number } | null = null;
  #timer: Timer | null = null;
  #found: ((found: FoundPort) => void) | null = null;
  #looking = false;

  constructor(options: SerialScannerOptions) {
    this.#options = options;
  }

  /** Calls `found` once, with an open port, which the caller owns from then on. */
  start(found: (found: FoundPort) => void): void {
    this.#found = found;
    this.#rested.clear();
    this.#timer = this.#options.clock.every(LOOK_MS, () => this.#look());
    this.#look();
  }

  stop(): void {
    this.#found = null;
    this.#timer?.cancel();
    for (const probe of this.#probing.values()) probe.abort();
  }

  #look(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#options
      .list()
      .then((ports) => this.#probeNext(ports))
      .catch((error: unknown) => this.#options.log.warn(`serial ports: ${messageOf(error)}`))
      .finally(() => {
        this.#looking = false;
      });
  }

  #probeNext(ports: readonly SerialPortEntry[]): void {
    const { clock, log } = this.#options;
    const there = new Set(ports.map(({ path }) => path));
    for (const path of this.#rested.keys()) if (!there.has(path)) this.#rested.delete(path);
    for (const port of ports) {
      const { path } = port;
      if (this.#found === null || this.#probing.size >= MAX_PROBES) return;
      if (this.#probing.has(path) || (this.#rested.get(path) ?? 0) > clock.now()) continue;
      const abort = new AbortController();
      this.#probing.set(path, abort);
      this.#probe(port, abort.signal)
        .catch((error: unknown) => log.debug(`${path}: ${messageOf(error)}`))
        .finally(() => {
          this.#probing.delete(path);
          this.#rested.set(path, clock.now() + REST_MS);
        });
    }
  }

  async #probe(port: SerialPortEntry, signal: AbortSignal): Promise<void> {
    for (const baud of this.#baudsFor(port)) {
      if (signal.aborted) return;
      const line = await this.#options.open(port.path, baud);
      const received = await this.#listen(port, line, signal);
      const found = this.#found;
      if (received === null || found === null || signal.aborted) {
        await line.close();
        continue;
      }
      this.#last = { name: port.byId ?? port.path, baud };
      this.stop();
      found({ port, baud, line, received });
      return;
    }
  }

  /** The rate that worked last time comes first, so that a replugged port is back within a second. */
  #baudsFor(port: SerialPortEntry): readonly number[] {
    const last = this.#last;
    if (last === null || last.name !== (port.byId ?? port.path)) return PROBE_BAUDS;
    return [last.baud, ...PROBE_BAUDS.filter((baud) => baud !== last.baud)];
  }

  /** The bytes up to the first heartbeat of an autopilot; null if none came. */
  async #listen(
    port: SerialPortEntry,
    line: SerialLine,
    signal: AbortSignal,
  ): Promise<readonly Uint8Array[] | null> {
    const { clock, heartbeat } = this.#options;
    const payload = new Payload();
    const received: Uint8Array[] = [];
    return new Promise((resolve) => {
      let kept = 0;
      const done = (result: readonly Uint8Array[] | null): void => {
        timer.cancel();
        beat?.cancel();
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const onAbort = (): void => done(null);
      const timer = clock.after(PROBE_MS, () => done(null));
      // On USB only: bytes on a UART could disturb another device.
      const beat = /ttyACM\d+$/.test(port.path) ? clock.every(BEAT_MS, () => line.write(heartbeat())) : null;
      signal.addEventListener('abort', onAbort, { once: true });
      const framer = new Framer((frame) => {
        if (frame.id !== MSG.HEARTBEAT || !frame.known) return;
        if (isAutopilot(decodeHeartbeat(payload.load(frame)), frame.component)) done(received);
      });
      line.listen(
        (chunk) => {
          if (kept + chunk.length > MAX_KEPT_BYTES) {
            received.length = 0;
            kept = 0;
          }
          received.push(chunk);
          kept += chunk.length;
          framer.push(chunk, clock.now());
        },
        () => done(null),
      );
    });
  }
}
