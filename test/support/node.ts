import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import supertest from 'supertest';
import { keepChecked } from '../../shared/config/checked-copy.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { type Client, clientOf } from '../../shared/rpc/contract.ts';
import { LINK } from '../../shared/rpc/link.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import { type ChildStatus, SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { checkAnswer } from './answer-check.ts';
import { programOf } from './program.ts';
import { freePort, removeDir, tempDir } from './temp.ts';

export const ROOT = join(import.meta.dirname, '../..');

/**
 * Whoever asks again and again for what tells nobody when it changes leaves the processor to those that change it: ms between two
 * answers of a path at first, and at most.
 */
const FIRST_REST_MS = 30;
const LONGEST_REST_MS = 200;

/** As after a write by the API: what this process has checked, no process of the node checks again. */
async function checkOnce(paths: Paths): Promise<void> {
  const { config, text, problem } = await loadConfig(paths);
  if (text === null || problem !== null) return;
  await mkdir(paths.state, { recursive: true, mode: 0o755 });
  await keepChecked(paths.configChecked, text, config, writeAtomic);
}

/** With a systemctl that does nothing before the machine's own. */
export const SAFE_PATH = `${join(import.meta.dirname, 'safe-bin')}:${process.env['PATH'] ?? ''}`;

export interface NodeOptions {
  /** YAML text of the config, without `api.port`. */
  readonly config?: string;
  /** The port of HTTPS; by default there is none. */
  readonly tlsPort?: number;
  /** Paths of a certificate and its key for HTTPS; by default the node makes its own. */
  readonly ownCertificate?: { readonly cert: string; readonly key: string };
  /** Arguments of the supervisor. */
  readonly args?: readonly string[];
  readonly pairing?: { readonly key: string };
  readonly simulated?: boolean;
  readonly port?: number;
  /** Added to the environment, for example a PATH with a fake program first. */
  readonly env?: Readonly<Record<string, string>>;
  /** A program and its arguments that run the supervisor, for example in a network namespace. */
  readonly prefix?: readonly string[];
  /** Before the first start, when the config is there. */
  readonly prepare?: (paths: Paths) => Promise<void>;
}

/** The machine's own is none of a test's business, and its networks none of a test node's. */
function withoutNetworkManager(base: string): Readonly<Record<string, string>> {
  return { SVC_NETWORK_MANAGER_RUN: join(base, 'no-network-manager') };
}

/** The three directories of a node, as its environment names them. */
export function directoriesIn(base: string): Readonly<Record<string, string>> {
  return {
    SVC_ETC_DIR: join(base, 'etc'),
    SVC_RUN_DIR: join(base, 'run'),
    SVC_STATE_DIR: join(base, 'state'),
  };
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A real node: supervisor and all its processes, in directories of its own, on a port of its own. */
export class TestNode {
  readonly base: string;
  readonly paths: Paths;
  readonly port: number;
  readonly url: string;
  readonly supervisor: ChildProcess;
  /** All that the node wrote to stderr. */
  stderr = '';
  #services: readonly ChildStatus[] = [];
  #changed: (() => void)[] = [];
  #dead = false;
  readonly #client: Client<typeof SUPERVISOR>;
  /** When each path was answered last, monotonic ms, and how long it rests from then on. */
  readonly #answered = new Map<string, { readonly at: number; readonly restMs: number }>();

  private constructor(base: string, paths: Paths, port: number, supervisor: ChildProcess) {
    this.base = base;
    this.paths = paths;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.supervisor = supervisor;
    supervisor.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    supervisor.once('exit', () => {
      this.#dead = true;
      for (const wake of this.#changed.splice(0)) wake();
    });
    this.#client = clientOf(SUPERVISOR, {
      path: paths.supervisorSocket,
      listeners: {
        services: (services) => {
          this.#services = services;
          for (const wake of this.#changed.splice(0)) wake();
        },
      },
    });
    this.#client.start();
  }

  static async start(options: NodeOptions = {}): Promise<TestNode> {
    const node = await TestNode.launch(options);
    await node.until((services) => services.length > 1 && services.every(({ state }) => state === 'running'));
    return node;
  }

  /** As `start`, without waiting for anything. */
  static async launch(options: NodeOptions = {}): Promise<TestNode> {
    const base = await tempDir();
    const paths = pathsFrom(directoriesIn(base));
    await mkdir(paths.etc, { recursive: true });
    const port = options.port ?? (await freePort());
    const { cert = '', key = '' } = options.ownCertificate ?? {};
    const tls = `  tls_port: ${options.tlsPort ?? 0}\n  tls_cert: '${cert}'\n  tls_key: '${key}'\n`;
    const source = options.simulated === false ? '' : 'mavlink:\n  source: sim\n  endpoints: []\n';
    // Most tests are not about video, and its process is the largest.
    const video = options.config?.includes('video:') === true ? '' : 'video:\n  source: none\n';
    const quiet = options.config?.includes('discovery:') === true ? '' : 'discovery:\n  mdns: false\n';
    await writeFile(
      paths.config,
      `api:\n  port: ${port}\n${tls}${source}${video}${quiet}${options.config ?? ''}`,
    );
    if (options.pairing !== undefined) {
      const pairing = { paired: true, api_key: options.pairing.key, owner_id: 'test', paired_at: 1 };
      await writeFile(paths.pairing, JSON.stringify(pairing), { mode: 0o600 });
    }
    await options.prepare?.(paths);
    await checkOnce(paths);
    return TestNode.#spawn(base, port, options);
  }

  /** Starts the supervisor of a node that died, over its own files. */
  static async resume(dead: TestNode, options: NodeOptions): Promise<TestNode> {
    dead.#client.stop();
    const node = TestNode.#spawn(dead.base, dead.port, options);
    await node.until((services) => services.length > 1);
    return node;
  }

  static #spawn(base: string, port: number, options: NodeOptions): TestNode {
    const env = directoriesIn(base);
    const [program, ...before] = options.prefix ?? [];
    const supervisor = spawn(
      program ?? process.execPath,
      [
        ...(program === undefined ? [] : [...before, process.execPath]),
        programOf('bin/supervisor/main'),
        ...(options.args ?? []),
      ],
      {
        env: { ...process.env, PATH: SAFE_PATH, ...env, ...withoutNetworkManager(base), ...options.env },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    return new TestNode(base, pathsFrom(env), port, supervisor);
  }

  /** Resolves when the supervisor has ended. */
  async gone(): Promise<void> {
    if (!this.#dead) await once(this.supervisor, 'exit');
  }

  get services(): readonly ChildStatus[] {
    return this.#services;
  }

  /** Resolves when the supervisor reports what `wanted` asks for; rejects when the supervisor dies first. */
  async until(wanted: (services: readonly ChildStatus[]) => boolean): Promise<void> {
    while (!wanted(this.#services)) {
      await new Promise<void>((resolve) => this.#changed.push(resolve));
      if (this.#dead) throw new Error(`the supervisor ended: ${this.stderr}`);
    }
  }

  /** Resolves when the armed guard knows something: with the first heartbeat, or 5 s after the start where none comes. */
  async knowsArmed(): Promise<void> {
    let stop = (): void => undefined;
    await new Promise<void>((resolve) => {
      const state = ({ guard }: LinkState): void => {
        if (guard !== 'unknown') resolve();
      };
      const client = clientOf(LINK, { path: this.paths.linkSocket, listeners: { state } });
      stop = () => client.stop();
      client.start();
    });
    stop();
  }

  service(name: string): ChildStatus {
    const found = this.#services.find((service) => service.name === name);
    if (found === undefined) throw new Error(`no service ${name}`);
    return found;
  }

  pid(name: string): number {
    const { pid } = this.service(name);
    if (pid === null) throw new Error(`${name} is not running`);
    return pid;
  }

  /** Kills one process and resolves when the supervisor has brought up its successor. */
  async killAndAwaitSuccessor(name: string): Promise<void> {
    const before = this.service(name);
    process.kill(this.pid(name), 'SIGKILL');
    await this.until((services) =>
      services.some((now) => now.name === name && now.state === 'running' && now.restarts > before.restarts),
    );
  }

  /** For what supertest does not do: to read a body while it comes, to end a request. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, init);
  }

  /** A request that supertest sends when it is awaited: no status is an error, no redirect is followed. */
  request(path: string, { method = 'GET', headers = {}, body }: RequestOptions = {}): supertest.Test {
    const request = new supertest.Test(this.url, method, path).set(headers);
    return body === undefined ? request : request.send(body);
  }

  /** As `request`, of an answer in JSON, which fits the schema of its row. */
  async json(
    path: string,
    options: RequestOptions = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const { method = 'GET' } = options;
    const { at = -Infinity, restMs = 0 } = this.#answered.get(path) ?? {};
    const left = method === 'GET' ? at + restMs - performance.now() : 0;
    if (left > 0) await delay(left);
    const { status, type, body } = await this.request(path, options);
    const nextMs = left > 0 ? Math.min(restMs * 1.2, LONGEST_REST_MS) : FIRST_REST_MS;
    this.#answered.set(path, { at: performance.now(), restMs: nextMs });
    if (!type.startsWith('application/json')) throw new Error(`${path} answered ${status} with ${type}`);
    checkAnswer(method, path, status, body);
    return { status, body: body as Record<string, unknown> };
  }

  async post(
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    return this.json(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** K9 D15: whatever a test did, no log line and no audit record of its node may hold a secret. */
  #findSecrets(): void {
    const audit = globSync(join(this.paths.auditDir, '*.ndjson*')).map((path) => readFileSync(path, 'utf8'));
    for (const text of [this.stderr, ...audit]) {
      const found = /(?<![A-Za-z0-9_-])svc_[A-Za-z0-9_-]{16,}|eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/.exec(
        text,
      );
      if (found !== null)
        throw new Error(`a secret in the logs: ${text.slice(Math.max(0, found.index - 200), found.index)}`);
    }
  }

  /** Stops the node as an operator would; resolves with the supervisor's exit code. @param keep its files too */
  async stop({ keep = false } = {}): Promise<number | null> {
    this.#client.stop();
    if (this.supervisor.exitCode === null && this.supervisor.signalCode === null) {
      const gone = once(this.supervisor, 'exit');
      this.supervisor.kill('SIGTERM');
      await gone;
    }
    this.#findSecrets();
    if (!keep) await this.remove();
    return this.supervisor.exitCode;
  }

  /** Removes the files of a node that was stopped and kept. */
  async remove(): Promise<void> {
    await removeDir(this.base);
  }
}
