import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './node.ts';
import { tempDir } from './temp.ts';

/** A checkout of its own, as a newcomer has it: the tracked folders, and node_modules as `npm ci` left it. */
export async function checkout(): Promise<string> {
  const dir = await tempDir();
  for (const name of [
    'shared',
    'front',
    'residual',
    'bin',
    'deploy',
    'test/rig',
    'package.json',
    'tsconfig.json',
  ]) {
    await cp(join(ROOT, name), join(dir, name), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  return dir;
}

export interface Run {
  readonly process: ChildProcess;
  output: string;
  /** Resolves when `text` has appeared, rejects when the process ends before. */
  shows(text: string): Promise<void>;
}

/** @param env added to the environment @param stdin pipe: for what a person types */
export function run(
  dir: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stdin: 'ignore' | 'pipe' = 'ignore',
): Run {
  const bin = join(dir, 'node_modules/.bin');
  const child = spawn(command, args, {
    cwd: dir,
    env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}`, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
    detached: true, // a process group of its own, as a terminal gives it
  });
  const waiting = new Set<() => void>();
  const started: Run = {
    process: child,
    output: '',
    async shows(text) {
      while (!started.output.includes(text)) {
        await new Promise<void>((resolve, reject) => {
          waiting.add(resolve);
          child.once('close', () => reject(new Error(`ended without "${text}": ${started.output}`)));
        });
      }
    },
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      started.output += chunk.toString();
      for (const wake of waiting) wake();
      waiting.clear();
    });
  }
  return started;
}

/** Ctrl-C: SIGINT to the whole foreground process group. */
export async function interrupt({ process: child }: Run): Promise<number> {
  const gone = once(child, 'close');
  const at = performance.now();
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
  await gone;
  return performance.now() - at;
}

export function processesOf(dir: string): readonly string[] {
  const seen: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      // The command line of every process of the node names a file of its checkout.
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (line.includes(`${dir}/`)) seen.push(line);
    } catch (error) {
      if (
        (error as NodeJS.ErrnoException).code !== 'ENOENT' &&
        (error as NodeJS.ErrnoException).code !== 'ESRCH'
      )
        throw error;
    }
  }
  return seen;
}
