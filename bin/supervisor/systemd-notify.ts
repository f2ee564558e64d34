import { execFile } from 'node:child_process';

/**
 * Tells systemd how the node is (sd_notify(3)), through the program `systemd-notify`: Node has no Unix datagram sockets.
 * The unit needs `NotifyAccess=all`, because the message comes from a child. Messages never overlap; what comes while one is
 * on its way is merged into the next.
 */

export interface NotifyOptions {
  /** The supervisor's own: NOTIFY_SOCKET, WATCHDOG_USEC, PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
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

export class SystemdNotify {
  readonly #options: NotifyOptions;
  readonly #enabled: boolean;
  readonly #pending = new Map<string, string>();
  #sending: Promise<void> | null = null;
  #complained = false;
  #status = '';
  #watchdog: NodeJS.Timeout | null = null;

  constructor(options: NotifyOptions) {
    this.#options = options;
    this.#enabled = (options.env['NOTIFY_SOCKET'] ?? '') !== '';
  }

  /**
   * Says that the node is up, and from then on, at half of WATCHDOG_USEC, that it lives. A supervisor whose loop hangs sends
   * nothing and is killed by systemd; hung children are its own business.
   */
  ready(): void {
    if (this.#pending.has('READY') || this.#watchdog !== null) return;
    this.#say('READY', '1');
    const period = Number(this.#options.env['WATCHDOG_USEC'] ?? 0) / 1000;
    if (!this.#enabled || !(period > 0)) return;
    this.#watchdog = setInterval(() => this.#say('WATCHDOG', '1'), period / 2);
  }

  /** One line for `systemctl status`. */
  status(text: string): void {
    if (text === this.#status) return;
    this.#status = text;
    this.#say('STATUS', text);
  }

  /** Resolves when systemd knows, or after five seconds. */
  async stopping(): Promise<void> {
    if (this.#watchdog !== null) clearInterval(this.#watchdog);
    this.#say('STOPPING', '1');
    while (this.#sending !== null) await this.#sending;
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
      await new Promise<void>((resolve) => {
        const args = [`--pid=${this.#options.pid}`, ...lines];
        execFile('systemd-notify', args, { env: this.#options.env, timeout: TIMEOUT_MS }, (error) => {
          if (error !== null && !this.#complained) {
            this.#complained = true;
            this.#options.onProblem(`systemd is not told: ${error.message.trim()}`);
          }
          resolve();
        });
      });
    }
    this.#sending = null;
  }
}
