import { execFileSync } from 'node:child_process';
import { arch, cpus, release, totalmem } from 'node:os';
import { ROOT } from './node.ts';

/** The machine that figures were measured on. */
export function machineFacts(): Readonly<Record<string, string | number>> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    'memory MiB': Math.round(totalmem() / 1048576),
    arch: arch(),
    kernel: release(),
    node: process.version,
  };
}

/** The commit of this clone; null outside of one. */
export function commitOf(): string | null {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short=10', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    return null; // no git, or a copy without its history
  }
}
