import { BwrapSandbox, bwrapProblem } from './bwrap.ts';
import { NoSandbox } from './none.ts';
import type { Sandbox } from './types.ts';

export type { Ended, OnLine, RunningExtension, Sandbox, SandboxSpec } from './types.ts';

export interface SandboxOptions {
  /** `plugins.allow_unsandboxed` of the config. */
  readonly allowUnsandboxed: boolean;
  /** The Node binary for extensions: this process's own. */
  readonly node: string;
  /** Called with a sentence if there is no sandbox, or a weaker one than there could be. */
  readonly onProblem: (sentence: string) => void;
}

/** The strongest sandbox of this machine; null if there is none, and then the agent half of no extension may run. */
export async function chooseSandbox({
  allowUnsandboxed,
  node,
  onProblem,
}: SandboxOptions): Promise<Sandbox | null> {
  const problem = await bwrapProblem();
  if (problem === null) return new BwrapSandbox({ node, asRoot: process.getuid?.() === 0 });
  if (allowUnsandboxed) {
    onProblem(`${problem} plugins.allow_unsandboxed is true: extensions run without a sandbox.`);
    return new NoSandbox(node);
  }
  onProblem(`${problem} Extensions cannot run. Install the package bubblewrap.`);
  return null;
}
