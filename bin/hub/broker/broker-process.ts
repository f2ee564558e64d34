import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Retry } from '../../../shared/async/retry.ts';
import { within } from '../../../shared/async/within.ts';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { HubPlaces } from '../places.ts';
import { mosquittoConfig } from './mosquitto-files.ts';
import type { SubscriptionGuard } from './subscription-guard.ts';

const STOP_MS = 3000;
const LISTEN_MS = 5000;
const LOOK_MS = 50;
/** It has run that long: the next pause is the first again. */
const STABLE_MS = 10_000;
/** Debian has it where ordinary users do not look. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`;

interface BrokerProcessOptions {
  readonly places: HubPlaces;
  readonly acl: string;
  readonly host: string;
  readonly port: number;
  readonly ws: { readonly host: string; readonly port: number } | null;
  readonly guard: Pick<SubscriptionGuard, 'saw'>;
  readonly log: Logger;
}

/** Of what it says; more is cut off. */
const LINE = 4000;

/** A Mosquitto of the hub's own: started again when it ends, and ended with the hub, also with one that is killed. */
export class BrokerProcess {
  readonly #options: BrokerProcessOptions;
  readonly #retry: Retry;
  #child: ChildProcess | null = null;

  constructor(options: BrokerProcessOptions) {
    this.#options = options;
    this.#retry = new Retry(() => this.#spawn(), { firstMs: 500, capMs: 10_000 });
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async start(): Promise<void> {
    const { places, acl, host, port, ws } = this.#options;
    await mkdir(places.mosquittoFolder, { recursive: true, mode: 0o700 });
    const { certificate, key } = places.broker;
    const user = userInfo().username;
    const text = mosquittoConfig({
      host,
      port,
      ws,
      ca: places.ca,
      certificate,
      key,
      acl,
      persistence: places.mosquittoFolder,
      user,
      guarded: true,
    });
    await writeAtomic(places.mosquittoConfig, text);
    this.#retry.start();
    await this.#listens();
  }

  /** Its certificate is a new one: Mosquitto 2 reads that again for MQTT, but not for WebSockets. */
  renewed(): void {
    if (this.#options.ws !== null) this.#child?.kill('SIGTERM'); // it is started again
  }

  /** Waits for it, so that the hub need not try twice; not for long, because it may never come. */
  async #listens(): Promise<void> {
    const { host, port } = this.#options;
    const deadline = performance.now() + LISTEN_MS;
    while (performance.now() < deadline && !(await accepts(host, port))) await delay(LOOK_MS);
  }

  async stop(): Promise<void> {
    this.#retry.stop();
    const child = this.#child;
    this.#child = null; // what it says from now on is no news
    if (child === null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await within(ended, STOP_MS, () => new Error('late')).catch(() => child.kill('SIGKILL'));
  }

  #spawn(): void {
    const { places, guard, log } = this.#options;
    const startedAt = performance.now();
    // The kernel ends it with us, however we end.
    const args = ['--pdeathsig', 'TERM', '--', 'mosquitto', '-c', places.mosquittoConfig];
    const child = spawn('setpriv', args, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH } });
    this.#child = child;
    child.stderr.setEncoding('utf8');
    let rest = '';
    child.stderr.on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n');
      rest = (lines.pop() ?? '').slice(0, LINE);
      for (const line of lines) if (line !== '' && !guard.saw(line)) log.warn(`mosquitto: ${line}`);
    });
    const over = (why: string): void => {
      if (this.#child !== child) return;
      this.#child = null;
      log.warn(`the broker has ended: ${why}`);
      if (performance.now() - startedAt > STABLE_MS) this.#retry.worked();
      this.#retry.again();
    };
    child.once('error', (error) => over(messageOf(error)));
    child.once('exit', (code, signal) => over(String(code ?? signal)));
  }
}

async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host: host === '0.0.0.0' ? '127.0.0.1' : host, port });
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
