import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A command with a terminal of its own, as a person has one: what it asks can be answered, what it says is awaited. */
export interface Terminal {
  readonly child: ChildProcess;
  /** Resolves with all that was said, once `text` was. */
  until(text: string): Promise<string>;
}

/** Runs a command line by `script` of util-linux, which gives it a terminal. */
export function openTerminal(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const child = spawn('script', ['-qefc', command.join(' '), '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  return {
    child,
    until: async (text) => {
      while (!said.includes(text)) await once(child.stdout, 'data');
      return said;
    },
  };
}
