import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { within } from '../../../../shared/async/within.ts';
import { messageOf } from '../../../../shared/errors.ts';
import { runProgram } from '../../../../shared/process/run-program.ts';
import { pipeAt } from './pipe-at.ts';

const START_MS = 10_000;
const CHECK_MS = 5000;
const DEVICE = '/dev/net/tun';
/** Slirp's own resolver, which asks the machine's. */
export const RESOLV_CONF = 'nameserver 10.0.2.3\n';

/** Why an extension cannot be given a network of its own, as a sentence; null if it can. */
export async function slirpProblem(): Promise<string | null> {
  const start = 'network.outbound outside of an installed node needs slirp4netns';
  try {
    await runProgram('slirp4netns', ['--version'], CHECK_MS);
  } catch (error) {
    return `${start}: ${messageOf(error)} Install the package slirp4netns, or revoke the permission.`;
  }
  const open = await access(DEVICE, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false, // also if it is not there
  );
  return open ? null : `${start}, and that needs ${DEVICE}, which this user cannot open.`;
}

/**
 * Gives a network namespace a way out through this machine's connections. Neither the machine's loopback addresses nor what
 * listens on them can be reached through it.
 * @param namespace of a process, which also owns it; or, as root, the path of a namespace
 * @returns what takes it away again
 * @throws Error if it cannot
 */
export async function startSlirp(
  namespace: { readonly pid: number } | { readonly path: string },
): Promise<() => void> {
  const target = 'pid' in namespace ? [String(namespace.pid)] : ['--netns-type=path', namespace.path];
  // Its sandbox would become root's, so only root can have it.
  const own = 'pid' in namespace ? [] : ['--enable-sandbox'];
  const flags = ['--configure', '--mtu=65520', '--disable-host-loopback', '--enable-seccomp', ...own];
  const child = spawn('slirp4netns', [...flags, '--ready-fd=3', '--exit-fd=4', ...target, 'tap0'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  // It ends when this pipe closes, and so also with this process.
  const end = (): void => void child.kill('SIGKILL');
  try {
    await within(ready(child), START_MS, () => new Error(`slirp4netns was not ready within ${START_MS} ms`));
    return end;
  } catch (error) {
    end();
    throw error;
  }
}

async function ready(child: ChildProcess): Promise<void> {
  let words = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-1024);
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => reject(new Error(`slirp4netns: ${words.trim().split('\n').at(-1) ?? ''}`)));
    pipeAt(child, 3).on('data', () => resolve());
    for (const pipe of child.stdio) pipe?.on('error', () => undefined); // it has ended, which 'close' tells
  });
}
