import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock, Timer } from '../clock.ts';
import type { SerialLine } from './serial-line.ts';
import type { FoundPort } from './serial-scanner.ts';
import { newTransportCounters, type Transport, type TransportEvents } from './transport.ts';

/** A port that was found by its heartbeat and is silent for this long is searched for again. */
const SILENT_MS = 15_000;
/** Bits for one byte on the line: start, eight, stop. */
const BITS_PER_BYTE = 10;
const MIN_QUEUED_BYTES = 4096;
/** Wait after a line closed, so that a port which closes at once is not reopened in a busy loop. */
const REOPEN_MS = 250;

/** Where open ports come from: the one that is configured, or a scan of all. */
interface SerialFinder {
  start(found: (found: FoundPort) => void): void;
  stop(): void;
}

interface SerialTransportOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly finder: SerialFinder;
  /** Whether a silent port is closed; false for the port that the configuration names. */
  readonly releaseSilent: boolean;
}

/** MAVLink over a serial line. Waits for its port, and again after it was unplugged. */
export class SerialTransport implements Transport {
  readonly counters = newTransportCounters();
  readonly #options: SerialTransportOptions;
  #events: TransportEvents | null = null;
  #found: FoundPort | null = null;
  #everOpen = false;
  #lastByteAt = 0;
  #timer: Timer | null = null;

  constructor(options: SerialTransportOptions) {
    this.#options = options;
  }

  get open(): boolean {
    return this.#found !== null;
  }

  get port(): string | null {
    return this.#found?.port.path ?? null;
  }

  get baud(): number | null {
    return this.#found?.baud ?? null;
  }

  start(events: TransportEvents): void {
    this.#events = events;
    this.#options.finder.start((found) => this.#opened(found));
  }

  async stop(): Promise<void> {
    this.#events = null;
    this.#options.finder.stop();
    this.#timer?.cancel();
    const line = this.#found?.line;
    this.#found = null;
    await line?.close();
  }

  write(bytes: Uint8Array): boolean {
    const found = this.#found;
    if (found === null || found.line.queuedBytes + bytes.length > roomFor(found.baud)) {
      this.counters.txDropped++;
      return false;
    }
    found.line.write(bytes);
    this.counters.txFrames++;
    this.counters.txBytes += bytes.length;
    return true;
  }

  #opened(found: FoundPort): void {
    const { clock, log, releaseSilent } = this.#options;
    const { line, port, baud, received } = found;
    this.#found = found;
    if (this.#everOpen) this.counters.reconnects++;
    this.#everOpen = true;
    this.#lastByteAt = clock.now();
    log.info(`flight controller port ${port.path} at ${baud} baud`, { byId: port.byId });
    this.#events?.onOpen();
    line.listen(
      (chunk) => {
        this.#lastByteAt = clock.now();
        this.#events?.onData(chunk);
      },
      () => this.#closed(line),
    );
    for (const chunk of received) this.#events?.onData(chunk);
    if (!releaseSilent) return;
    this.#timer = clock.every(SILENT_MS / 3, () => {
      if (clock.now() - this.#lastByteAt < SILENT_MS) return;
      log.warn(`${port.path}: silent for ${SILENT_MS / 1000} s, closed`);
      line.close().catch(() => undefined); // the line tells its end through onClose in any case
    });
  }

  #closed(line: SerialLine): void {
    if (this.#found?.line !== line) return;
    const { clock, log, finder } = this.#options;
    log.warn(`${this.#found.port.path}: gone`);
    this.#found = null;
    this.#timer?.cancel();
    if (this.#events === null) return;
    this.#events.onClose();
    this.#timer = clock.after(REOPEN_MS, () => finder.start((found) => this.#opened(found)));
  }
}

/** About a second of the line: later data would be useless. */
function roomFor(baud: number): number {
  return Math.max(MIN_QUEUED_BYTES, baud / BITS_PER_BYTE);
}
