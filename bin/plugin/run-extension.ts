import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { entrypointOf } from '../../shared/plugins/entrypoint.ts';
import type { AgentHalf, Manifest } from '../../shared/plugins/manifest.ts';
import { PluginRefusal } from '../../shared/plugins/refusal.ts';

/** An extension that may not end keeps nobody waiting. */
const STOP_MS = 5000;

interface ExtensionPlaces {
  readonly folder: string;
  /** The folder of `host.sock`, where it makes its own: `http.sock`, `camera.sock`. */
  readonly sockets: string;
  readonly dataDir: string;
}

/** The agent half of an extension as a process on its author's machine: no sandbox. */
export class RunningExtension {
  readonly #child: ChildProcess;
  readonly #exited: Promise<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = once(child, 'close').then(
      ([code, signal]: readonly unknown[]) =>
        typeof signal === 'string' ? `was ended by ${signal}` : `ended with code ${String(code)}`,
      (error: unknown) => `could not be started: ${messageOf(error)}`,
    );
  }

  /** @param onLine its output, line by line */
  static async start(
    manifest: Manifest,
    places: ExtensionPlaces,
    onLine: (line: string) => void,
  ): Promise<RunningExtension> {
    const { agent } = manifest;
    if (agent === null)
      throw new PluginRefusal(
        'usage_error',
        `${manifest.id} has no agent half: nothing of it runs on a node.`,
      );
    const [program, ...args] = await commandOf(manifest.id, agent, places);
    const child = spawn(program ?? '', args, {
      cwd: places.dataDir,
      env: {
        PATH: process.env['PATH'],
        LANG: 'C.UTF-8',
        PYTHONUNBUFFERED: '1',
        PYTHONDONTWRITEBYTECODE: '1',
        SVC_PLUGIN_ID: manifest.id,
        SVC_PLUGIN_SOCKET: join(places.sockets, 'host.sock'),
        SVC_PLUGIN_DATA: places.dataDir,
        SVC_NODE_PROFILE: 'drone',
        ...(agent.http && { SVC_PLUGIN_HTTP_SOCKET: join(places.sockets, 'http.sock') }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      let rest = '';
      stream.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = (lines.pop() ?? '').slice(0, 4096);
        for (const line of lines) onLine(line);
      });
    }
    return new RunningExtension(child);
  }

  /** In words, when it has ended by itself or by `stop`. */
  async ended(): Promise<string> {
    return this.#exited;
  }

  /** SIGTERM, and SIGKILL after 5 s. @returns whether SIGTERM was enough */
  async stop(): Promise<boolean> {
    let killed = false;
    const timer = setTimeout(() => {
      killed = true;
      this.#child.kill('SIGKILL');
    }, STOP_MS);
    this.#child.kill('SIGTERM');
    await this.#exited;
    clearTimeout(timer);
    return !killed;
  }
}

async function commandOf(
  id: string,
  agent: AgentHalf,
  { folder, sockets }: ExtensionPlaces,
): Promise<string[]> {
  const entry = resolve(folder, entrypointOf(agent));
  switch (agent.runtime) {
    case 'node':
      return [process.execPath, entry];
    case 'python':
      return ['python3', entry];
    case 'binary':
      await chmod(entry, 0o755); // as a node does
      return [entry, id, '--socket', join(sockets, 'host.sock')];
    default:
      throw new Error(`unknown runtime ${String(agent.runtime satisfies never)}`);
  }
}
