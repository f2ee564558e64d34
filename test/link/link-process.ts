import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { CommandName } from '../../shared/flight/command-catalogue.ts';
import { type Calls, type Client, clientOf } from '../../shared/rpc/contract.ts';
import { LINK } from '../../shared/rpc/link.ts';
import type { CommandResult, ParamsSnapshot } from '../../shared/rpc/link-answers.ts';
import type { EndpointStatus, LinkState } from '../../shared/rpc/link-state.ts';
import { askAgain } from '../support/ask-again.ts';
import { programOf } from '../support/program.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { groundHeartbeatFrame } from './mavlink-samples.ts';

/** A real svc-link in a directory of its own, and a client of its socket. */
export class LinkProcess {
  state: LinkState | null = null;
  stderr = '';
  readonly #dir: string;
  readonly #child: ChildProcess;
  readonly #client: Client<typeof LINK>;
  #wake: (() => void)[] = [];

  private constructor(dir: string, env: Readonly<Record<string, string>>) {
    this.#dir = dir;
    this.#child = spawn(process.execPath, [programOf('front/link/main')], {
      env: { ...process.env, SVC_RUN_DIR: dir, SVC_ETC_DIR: dir, SVC_STATE_DIR: dir, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.#client = clientOf(LINK, {
      path: join(dir, 'link.sock'),
      listeners: {
        state: (state) => {
          this.state = state;
          for (const wake of this.#wake.splice(0)) wake();
        },
      },
    });
    this.#client.start();
  }

  /**
   * @param mavlink lines of the `mavlink` section of its config; without them it opens no endpoint
   * @param env for example SVC_DEV_DIR; SVC_STATE_DIR for one that outlives the process
   */
  static async start(
    source: string,
    mavlink: readonly string[] = ['endpoints: []'],
    env: Readonly<Record<string, string>> = {},
  ): Promise<LinkProcess> {
    const dir = await tempDir();
    await writeFile(
      join(dir, 'config.yaml'),
      ['mavlink:', `  source: ${source}`, ...mavlink.map((line) => `  ${line}`), ''].join('\n'),
    );
    const link = new LinkProcess(dir, env);
    await link.until(() => true);
    return link;
  }

  /** Resolves with the first state that fits. */
  async until(fits: (state: LinkState) => boolean): Promise<LinkState> {
    for (;;) {
      if (this.state !== null && fits(this.state)) return this.state;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  /** Resolves when the link has told its state again, which it does at least twice a second. */
  async nextState(): Promise<void> {
    await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  async command(cmd: CommandName, ...args: (number | string)[]): Promise<CommandResult> {
    return this.calls.command({ cmd, args });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Its endpoints are open: it tells its state before, and a datagram to one that is not yet is lost. */
  async opened(): Promise<void> {
    await askAgain(
      'the endpoints of svc-link',
      async () => this.endpoints(),
      (endpoints) => endpoints.every(({ open }) => open),
    );
  }

  async endpoints(): Promise<readonly EndpointStatus[]> {
    return this.calls.endpoints({});
  }

  async params(): Promise<ParamsSnapshot> {
    return this.calls.params({});
  }

  /** The Unix socket of calls. */
  get socket(): string {
    return join(this.#dir, 'link.sock');
  }

  /** What it can be asked for; rejects with the ApiError that svc-link answered. */
  get calls(): Calls<typeof LINK> {
    return this.#client.calls;
  }

  /** The serial lines and ptys that it holds open. */
  openTerminals(): readonly string[] {
    const fds = `/proc/${this.#child.pid ?? 0}/fd`;
    return readdirSync(fds).flatMap((fd) => {
      try {
        const target = readlinkSync(join(fds, fd));
        return /^\/dev\/(?:pts\/\d+|tty\w+)$/.test(target) ? [target] : [];
      } catch {
        return []; // closed meanwhile
      }
    });
  }

  /** A client of raw frames that was let in, and gets heartbeats. */
  async joinFeed(): Promise<Socket> {
    await askAgain(
      'the feed of svc-link',
      async () => this.endpoints(),
      (endpoints) => endpoints.some(({ name, open }) => name === 'websocket' && open),
    );
    const socket = connect(this.feed);
    socket.write(`${JSON.stringify({ name: 'test', write: true, force: false, msgs: 'HEARTBEAT' })}\n`);
    await once(socket, 'data');
    return socket;
  }

  /** Puts a ground station beside the link, for as long as the link runs: PX4 tells its texts to nobody else. */
  async addStation(): Promise<void> {
    const socket = await this.joinFeed();
    socket.on('error', () => undefined); // the link ends first
    socket.resume();
    const beat = (): void => void socket.write(groundHeartbeatFrame());
    beat();
    const timer = setInterval(beat, 1000);
    socket.once('close', () => clearInterval(timer));
  }

  /** The Unix socket of raw frames. */
  get feed(): string {
    return join(this.#dir, 'mavlink.sock');
  }

  /** @returns its exit code */
  async stop(): Promise<number | null> {
    this.#client.stop();
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    await removeDir(this.#dir);
    return code;
  }
}
