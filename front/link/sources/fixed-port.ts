import { Retry } from '../../../shared/async/retry.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { SerialPortEntry } from '../../../shared/flight/serial-ports.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Clock, Timer } from '../clock.ts';
import type { OpenSerial } from './serial-line.ts';
import type { FoundPort } from './serial-scanner.ts';

const FIRST_RETRY_MS = 250;
/** Below the 5 s in which a vehicle that was replugged must be connected again (docs/threat-model.md J1). */
const LAST_RETRY_MS = 2000;

interface FixedPortOptions {
  readonly path: string;
  readonly baud: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly list: () => Promise<readonly SerialPortEntry[]>;
  readonly open: OpenSerial;
}

/**
 * The port that the configuration names, opened as soon as it is there. A device that comes back under another number
 * (`ttyACM0` as `ttyACM1`) is known by its name under `/dev/serial/by-id`.
 */
export class FixedPort {
  readonly #options: FixedPortOptions;
  readonly #retry: Retry;
  #byId: string | null = null;
  #found: ((found: FoundPort) => void) | null = null;
  #lastProblem = '';

  constructor(options: FixedPortOptions) {
    this.#options = options;
    const { clock } = options;
    const after = (ms: number, run: () => void): Timer => clock.after(ms, run);
    this.#retry = new Retry(() => this.#try(), { firstMs: FIRST_RETRY_MS, capMs: LAST_RETRY_MS, after });
  }

  /** Calls `found` once, with an open port, which the caller owns from then on. */
  start(found: (found: FoundPort) => void): void {
    this.#found = found;
    this.#retry.worked();
    this.#retry.start();
  }

  stop(): void {
    this.#found = null;
    this.#retry.stop();
  }

  #try(): void {
    this.#open().catch((error: unknown) => {
      const problem = messageOf(error);
      // Logged once, not every 2 s.
      if (problem !== this.#lastProblem) this.#options.log.warn(`${this.#options.path}: ${problem}`);
      this.#lastProblem = problem;
      this.#retry.again();
    });
  }

  async #open(): Promise<void> {
    const { path, baud, list, open } = this.#options;
    const ports = await list();
    const named = ports.find((port) => port.path === path || port.byId === path);
    const moved =
      named === undefined ? ports.find(({ byId }) => byId !== null && byId === this.#byId) : undefined;
    const port = named ?? moved ?? { path, byId: null };
    const line = await open(port.path, baud);
    const found = this.#found;
    if (found === null) {
      await line.close();
      return;
    }
    this.#byId = port.byId;
    this.#lastProblem = '';
    this.#found = null;
    found({ port, baud, line, received: [] });
  }
}
