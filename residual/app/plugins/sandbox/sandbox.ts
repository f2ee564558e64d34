import { existsSync } from 'node:fs';
import { helperAt } from '../../../../shared/rpc/helper-client.ts';
import { BwrapSandbox, bwrapProblem } from './bwrap.ts';
import { NoSandbox } from './none.ts';
import { SystemdSandbox } from './systemd.ts';
import type { Sandbox } from './types.ts';

export type { Ended, OnLine, RunningExtension, Sandbox, SandboxSpec } from './types.ts';

interface SandboxOptions {
  /** Whether this is an installed node, whose extensions are units: it runs from /opt/svc. */
  readonly installed: boolean;
  readonly helperSocket: string;
  /** `plugins.allow_unsandboxed` of the config. */
  readonly allowUnsandboxed: boolean;
  /** The Node binary for extensions: this process's own. */
  readonly node: string;
  /** Called with a sentence if there is no sandbox, or a weaker one than there could be. */
  readonly onProblem: (sentence: string) => void;
}

/** Where systemd is the machine's init, as sd_booted(3) says. */
const SYSTEMD = '/run/systemd/system';

/** The strongest sandbox of this machine; null if there is none, and then the agent half of no extension may run. */
export async function chooseSandbox(options: SandboxOptions): Promise<Sandbox | null> {
  const { installed, helperSocket, allowUnsandboxed, node, onProblem } = options;
  if (installed && existsSync(SYSTEMD) && existsSync(helperSocket))
    return new SystemdSandbox(helperAt(helperSocket));
  const problem = await bwrapProblem();
  if (problem === null) return new BwrapSandbox({ node, asRoot: process.getuid?.() === 0 });
  if (allowUnsandboxed) {
    onProblem(`${problem} plugins.allow_unsandboxed is true: extensions run without a sandbox.`);
    return new NoSandbox(node);
  }
  onProblem(`${problem} Extensions cannot run. Install the package bubblewrap.`);
  return null;
}
