import { every } from '../../shared/async/every.ts';
import { messageOf } from '../../shared/errors.ts';
import { runProgram } from '../../shared/process/run-program.ts';

/**
 * Reports the state of the node to systemd (sd_notify(3)), through the program `systemd-notify`: Node has no Unix datagram
 * sockets. The unit needs `NotifyAccess=all`, because the message comes from a child. Messages never overlap; those that come
 * while one is being sent are merged into the next.
 */

interface NotifyOptions {
  /** The supervisor's own: NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Called before every WATCHDOG=1; while it is false none is sent, and systemd restarts the node in the end. */
  readonly healthy?: () => boolean;
  /** A line for the log. */
  readonly onProblem: (text: string) => void;
}

const TIMEOUT_MS = 5000;
/** In the air a supervisor that hangs is the smaller evil: svc-link goes on, and a restart would cut the link. */
const ARMED_USEC = '600000000';
/** While the node starts, systemd waits for so long after each time that it is asked to, whatever TimeoutStartSec is. */
const EXTENSION_USEC = '60000000';
const EXTEND_MS = 15_000;
/** Removed from the children's environment: they must not report for the node. */
const OWN = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as const;

/** The environment without the variables for the supervisor only. */
export function withoutNotify(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OWN.some((own) => own === name)));
}

/** How often WATCHDOG=1 is due, ms: half of systemd's limit; null if it does not watch this process. */
function heartbeatMs({ env, pid }: NotifyOptions): number | null {
  const allowedMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000;
  const watched = env['WATCHDOG_PID'] ?? '';
  return allowedMs > 0 && (watched === '' || watched === String(pid)) ? allowedMs / 2 : null;
}

export class SystemdNotify {
  readonly #options: NotifyOptions;
  readonly #enabled: boolean;
  readonly #pending = new Map<string, string>();
  #sending: Promise<void> | null = null;
  #complained = false;
  #ready = false;
  #status = '';
  #watchdog: NodeJS.Timeout | null = null;
  #starting: NodeJS.Timeout | null = null;

  constructor(options: NotifyOptions) {
    this.#options = options;
    this.#enabled = (options.env['NOTIFY_SOCKET'] ?? '') !== '';
  }

  /**
   * Reports from now on, at half of WATCHDOG_USEC, that the supervisor is healthy. A supervisor whose loop hangs reports
   * nothing and is killed by systemd; hung children are killed by the supervisor, as long as it can. It does not wait for
   * READY=1: after a restart of the supervisor in place, systemd keeps watching while the children start.
   *
   * Until READY=1 it asks for more time. Each child has a limit of its own for its start, longer on a busy machine; systemd's, for
   * all of them, would end a node on a slow card that is about to be ready, again and again.
   */
  start(): void {
    if (!this.#enabled) return;
    const extend = (): void => this.#say('EXTEND_TIMEOUT_USEC', EXTENSION_USEC);
    extend();
    this.#starting = every(EXTEND_MS, 'extension', extend);
    const period = heartbeatMs(this.#options);
    if (period === null) return;
    const beat = (): void => {
      if (this.#options.healthy?.() ?? true) this.#say('WATCHDOG', '1');
    };
    beat();
    this.#watchdog = every(period, 'watchdog', beat);
  }

  /** Whether systemd has to wait longer before it restarts the node, as a vehicle is armed (WATCHDOG_USEC of sd_notify(3)). */
  armed(armed: boolean): void {
    if (this.#watchdog === null) return;
    this.#say('WATCHDOG_USEC', armed ? ARMED_USEC : (this.#options.env['WATCHDOG_USEC'] ?? '0'));
  }

  /** Reports once that the node is up. */
  ready(): void {
    if (this.#ready) return;
    this.#ready = true;
    this.#endStarting();
    this.#say('READY', '1');
  }

  /** One line for `systemctl status`. */
  status(text: string): void {
    if (text === this.#status) return;
    this.#status = text;
    this.#say('STATUS', text);
  }

  /** Reports that the node stops. From then on TimeoutStopSec runs, so this is not used for a restart in place. */
  stopping(): void {
    this.#endStarting();
    this.#endWatchdog();
    this.#say('STOPPING', '1');
  }

  /** Stops the reports; resolves when all messages have arrived or timed out (5 s each). */
  async end(): Promise<void> {
    this.#endStarting();
    this.#endWatchdog();
    while (this.#sending !== null) await this.#sending;
  }

  #endStarting(): void {
    if (this.#starting !== null) clearInterval(this.#starting);
    this.#starting = null;
  }

  #endWatchdog(): void {
    if (this.#watchdog !== null) clearInterval(this.#watchdog);
    this.#watchdog = null;
  }

  #say(name: string, value: string): void {
    if (!this.#enabled) return;
    this.#pending.set(name, value);
    this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    while (this.#pending.size > 0) {
      const lines = [...this.#pending].map(([name, value]) => `${name}=${value}`);
      this.#pending.clear();
      try {
        const args = [`--pid=${this.#options.pid}`, ...lines];
        await runProgram('systemd-notify', args, TIMEOUT_MS, { env: this.#options.env });
      } catch (error) {
        if (!this.#complained) this.#options.onProblem(`systemd could not be notified: ${messageOf(error)}`);
        this.#complained = true;
      }
    }
    this.#sending = null;
  }
}
