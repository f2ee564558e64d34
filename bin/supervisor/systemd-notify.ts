import { every } from '../../shared/async/every.ts';
import { messageOf } from '../../shared/errors.ts';
import { runProgram } from '../../shared/process/run-program.ts';

/**
 * Tells systemd how the node is (sd_notify(3)), through the program `systemd-notify`: Node has no Unix datagram sockets.
 * The unit needs `NotifyAccess=all`, because the message comes from a child. Messages never overlap; what comes while one is
 * on its way is merged into the next.
 */

export interface NotifyOptions {
  /** The supervisor's own: NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Asked before every WATCHDOG=1; while it is false systemd hears none, and restarts the node in the end. */
  readonly healthy?: () => boolean;
  /** A line for the log. */
  readonly onProblem: (text: string) => void;
}

const TIMEOUT_MS = 5000;
/** Not for the children: they would speak for the node. */
const OWN = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as const;

/** The environment without what only the supervisor may have. */
export function withoutNotify(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OWN.some((own) => own === name)));
}

/** How often WATCHDOG=1 is due, ms: half of what systemd allows; null where it does not watch this process. */
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

  constructor(options: NotifyOptions) {
    this.#options = options;
    this.#enabled = (options.env['NOTIFY_SOCKET'] ?? '') !== '';
  }

  /**
   * Says from now on, at half of WATCHDOG_USEC, that the supervisor lives and is healthy. One whose loop hangs says nothing and
   * is killed by systemd; hung children are the supervisor's own business as long as it can end them. Not only from READY=1
   * on: after a restart of the supervisor in place the watch goes on while the children start.
   */
  start(): void {
    const period = heartbeatMs(this.#options);
    if (!this.#enabled || period === null) return;
    const beat = (): void => {
      if (this.#options.healthy?.() ?? true) this.#say('WATCHDOG', '1');
    };
    beat();
    this.#watchdog = every(period, 'watchdog', beat);
  }

  /** Says once that the node is up. */
  ready(): void {
    if (this.#ready) return;
    this.#ready = true;
    this.#say('READY', '1');
  }

  /** One line for `systemctl status`. */
  status(text: string): void {
    if (text === this.#status) return;
    this.#status = text;
    this.#say('STATUS', text);
  }

  /** Says that the node ends. From here on systemd counts TimeoutStopSec, whatever else it is told: not for a restart in place. */
  stopping(): void {
    this.#endWatchdog();
    this.#say('STOPPING', '1');
  }

  /** Says nothing of its own any more; resolves when all that was said has arrived or timed out (5 s each). */
  async end(): Promise<void> {
    this.#endWatchdog();
    while (this.#sending !== null) await this.#sending;
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
        if (!this.#complained) this.#options.onProblem(`systemd is not told: ${messageOf(error)}`);
        this.#complained = true;
      }
    }
    this.#sending = null;
  }
}
