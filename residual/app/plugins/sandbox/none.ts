import { spawn } from 'node:child_process';
import { commandLine, environment } from './inside.ts';
import { removeData } from './remove-data.ts';
import { RunningChild } from './running.ts';
import type { OnLine, RunningExtension, Sandbox, SandboxSpec } from './types.ts';

/** No sandbox: a plain child that may do what this process may. Only where the configuration allows it by name. */
export class NoSandbox implements Sandbox {
  readonly kind = 'none';
  readonly #node: string;

  /** @param node the Node binary for extensions */
  constructor(node: string) {
    this.#node = node;
  }

  refusal(): null {
    return null;
  }

  async start(spec: SandboxSpec, onLine: OnLine): Promise<RunningExtension> {
    const places = { extension: spec.install, data: spec.data, sockets: spec.sockets, node: this.#node };
    const [program, ...args] = commandLine(spec, places);
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(spec, places),
      cwd: spec.data,
      detached: true, // a process group of its own, so that its children can be ended with it
    });
    const signal = (name: NodeJS.Signals): boolean => {
      try {
        return child.pid !== undefined && process.kill(-child.pid, name);
      } catch {
        return false; // the whole group has ended
      }
    };
    const running = new RunningChild({
      child,
      onLine,
      maxMemoryMiB: spec.resources.max_ram_mb,
      terminate: async () => signal('SIGTERM'),
      killAll: () => void signal('SIGKILL'),
    });
    if (child.pid === undefined) {
      await running.ended;
      throw new Error(`${program} does not run: ${running.lastWords}`);
    }
    return running;
  }

  async forget(_id: string, data: string): Promise<void> {
    await removeData(data);
  }
}
