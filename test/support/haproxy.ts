import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { askAgain } from './ask-again.ts';

const HAPROXY = '/usr/sbin/haproxy';

/** Why there is none here; null where there is one. */
export function noHaproxy(): string | null {
  return existsSync(HAPROXY) ? null : 'haproxy is not installed';
}

/**
 * A HAProxy with this configuration.
 * @param ready asked until what is behind it answers @throws Error with what it wrote, when it has ended
 */
export async function startHaproxy(
  file: string,
  config: string,
  ready: () => Promise<boolean>,
): Promise<ChildProcess> {
  await writeFile(file, config);
  const balancer = spawn(HAPROXY, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  balancer.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-2000); // it is shown only where the start fails
  });
  await askAgain(
    'what is behind the balancer answers',
    async () => {
      if (balancer.exitCode !== null) throw new Error(`haproxy has ended: ${said}`);
      return ready();
    },
    (isReady) => isReady,
  );
  return balancer;
}
