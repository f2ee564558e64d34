import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lchown, lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { within } from '../../../../shared/async/within.ts';
import { messageOf } from '../../../../shared/errors.ts';
import { runProgram } from '../../../../shared/process/run-program.ts';
import { bwrapCommand, FD, rootArguments, type Sources } from './bwrap-args.ts';
import { devicesOf } from './devices.ts';
import { giveTo, openToAll, userOf } from './owner.ts';
import { pipeAt } from './pipe-at.ts';
import { childrenOf } from './process-tree.ts';
import { removeData } from './remove-data.ts';
import { RunningChild } from './running.ts';
import { systemCallFilter } from './seccomp.ts';
import { RESOLV_CONF, slirpProblem, startSlirp } from './slirp.ts';
import type { OnLine, RunningExtension, Sandbox, SandboxSpec } from './types.ts';

const CHECK_MS = 5000;
const START_MS = 10_000;
const MAX_INFO_CHARS = 4096;
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

interface BwrapOptions {
  /** The Node binary for extensions. */
  readonly node: string;
  /** Whether the node runs as root. */
  readonly asRoot: boolean;
}

/** Why this machine cannot make such sandboxes, as a sentence; null if it can. */
export async function bwrapProblem(): Promise<string | null> {
  if (systemCallFilter(process.arch) === null) return noFilter();
  const test = [
    '--unshare-all',
    '--unshare-user',
    '--disable-userns',
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
  ];
  try {
    await runProgram('bwrap', [...test, '--', '/bin/bash', '-c', ':'], CHECK_MS);
    return null;
  } catch (error) {
    return `bubblewrap does not work here: ${messageOf(error)}`;
  }
}

/** Runs extensions as children of this process, under bubblewrap. No privilege is needed, and none is used where there is one. */
export class BwrapSandbox implements Sandbox {
  readonly kind = 'bwrap';
  readonly #options: BwrapOptions;

  constructor(options: BwrapOptions) {
    this.#options = options;
  }

  async refusal({ grants, install, entrypoint }: SandboxSpec): Promise<string | null> {
    if (grants.has('network.listen'))
      return 'network.listen needs an installed node: here, an extension has a network of its own that nobody else is in. Revoke the permission, or install the node.';
    if (this.#options.asRoot)
      for (const path of [install, join(install, entrypoint)])
        if (!(await openToAll(path)))
          return `The extension runs as a user of its own, who cannot read ${path}. Run: chmod -R go+rX ${install}`;
    return grants.has('network.outbound') ? slirpProblem() : null;
  }

  async start(spec: SandboxSpec, onLine: OnLine): Promise<RunningExtension> {
    const refused = await this.refusal(spec);
    if (refused !== null) throw new Error(refused);
    const filter = systemCallFilter(process.arch);
    if (filter === null) throw new Error(noFilter());
    const outbound = spec.grants.has('network.outbound');
    const devices = await devicesOf(spec.grants, spec.closedDevices);
    const machine = { roots: await rootArguments(), devices };
    const { node } = this.#options;
    const [program = 'bwrap', ...args] = this.#options.asRoot
      ? await asAnotherUser(spec, node, devices, (sources) => bwrapCommand(spec, sources, machine))
      : bwrapCommand(spec, { ...sourcesOf(spec), node }, machine);
    const child = spawn(program, args, {
      // No descriptor that is not used: it would stay open inside.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', ...(outbound ? (['pipe'] as const) : [])],
      env: { PATH },
      cwd: '/',
    });
    for (const pipe of child.stdio) pipe?.on('error', () => undefined); // it has ended, which 'close' tells
    pipeAt(child, FD.seccomp).end(filter);
    if (outbound) pipeAt(child, FD.resolv).end(RESOLV_CONF);
    let init: number | null = null; // the first process of its process namespace: all others end with it
    const killAll = (): void => {
      // bubblewrap itself ends when it has seen that one end.
      if (init !== null) killIfThere(init);
      else child.kill('SIGKILL');
    };
    const running = new RunningChild({
      child,
      onLine,
      maxMemoryMiB: spec.resources.max_ram_mb,
      terminate: async () => init !== null && terminateChildren(init),
      killAll,
    });
    const ready = async (): Promise<void> => {
      init = await firstProcess(child);
      running.pid = init;
      await once(gateOf(child), 'data');
    };
    const died = running.ended.then(({ exit }) => {
      throw new Error(`bubblewrap did not start it (${exit}): ${running.lastWords}`);
    });
    try {
      const started = Promise.race([ready(), died]);
      await within(started, START_MS, () => new Error(`bubblewrap took longer than ${START_MS} ms`));
      if (outbound && init !== null) await this.#connect(child, init, running);
      gateOf(child).end('\n');
      return running;
    } catch (error) {
      killAll();
      throw error;
    }
  }

  async forget(_id: string, data: string): Promise<void> {
    await removeData(data);
  }

  async #connect(child: ChildProcess, init: number, running: RunningChild): Promise<void> {
    const outer = child.pid;
    if (outer === undefined) throw new Error('bubblewrap does not run');
    const end = await startSlirp(this.#options.asRoot ? { path: `/proc/${init}/ns/net` } : { pid: outer });
    void running.ended.then(end);
  }
}

function noFilter(): string {
  return `The system calls of ${process.arch} are not known here, so none could be refused.`;
}

function sourcesOf({ install, data, sockets }: SandboxSpec): Omit<Sources, 'node'> {
  return { extension: install, data, sockets };
}

/**
 * Makes a view in which paths (`PATH NAME` …) lie at /sys/NAME, and runs the rest, after `--`, in it. At /sys, because it is
 * everywhere, and neither a folder of ours nor anything else that is needed is below it.
 */
const MOUNT = `set -eu
mount -t tmpfs -o size=1m,mode=0755 svc /sys
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir "/sys/$2"; else : >"/sys/$2"; fi
  mount --bind "$1" "/sys/$2"
  shift 2
done
shift
exec "$@"`;

/**
 * As root, the extension gets a user of its own: the kernel does not limit root's processes. That user cannot reach the node's
 * folders, so they are mounted where it can, in a view of its own. Each program replaces the one before it: a process of root
 * without capabilities in between could not end those of the other user when the node dies.
 */
async function asAnotherUser(
  spec: SandboxSpec,
  node: string,
  devices: readonly string[],
  inner: (sources: Sources) => readonly string[],
): Promise<readonly string[]> {
  const user = userOf(spec.id);
  if ((await lstat(spec.data)).uid !== user) await giveTo(user, spec.data);
  await lchown(spec.sockets, user, user);
  await lchown(join(spec.sockets, 'host.sock'), user, user).catch(() => undefined); // a host without one
  const groups = new Set((await Promise.all(devices.map(async (path) => stat(path)))).map(({ gid }) => gid));
  groups.delete(0);
  const from: Sources = { ...sourcesOf(spec), node };
  const at: Sources = {
    extension: '/sys/extension',
    data: '/sys/data',
    sockets: '/sys/sockets',
    node: '/sys/node',
  };
  const drop = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--no-new-privs'];
  const group = groups.size === 0 ? '--clear-groups' : `--groups=${[...groups].join(',')}`;
  return [
    ['unshare', '--mount', '--', 'sh', '-c', MOUNT, 'sh'],
    Object.entries(from).flatMap(([name, path]: [string, string]) => [path, name]),
    ['--', ...drop, group, ...inner(at)],
  ].flat();
}

/** @returns the process id, in this process's namespace, of the first process inside. It waits for ever if there is none. */
async function firstProcess(child: ChildProcess): Promise<number> {
  const info = pipeAt(child, FD.info);
  let text = '';
  return new Promise<number>((resolve) => {
    info.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(0, MAX_INFO_CHARS);
      const pid = /"child-pid": *(\d+)/.exec(text)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
  });
}

function gateOf(child: ChildProcess): Duplex {
  return pipeAt(child, FD.gate);
}

async function terminateChildren(init: number): Promise<boolean> {
  const children = await childrenOf(init);
  for (const pid of children) killIfThere(pid, 'SIGTERM');
  return children.length > 0;
}

function killIfThere(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
