import { type ChildProcess, spawn } from 'node:child_process';
import { lchown, lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { within } from '../../../../shared/async/within.ts';
import { messageOf } from '../../../../shared/errors.ts';
import { runProgram } from '../../../../shared/process/run-program.ts';
import { bwrapCommand, FD, rootArguments, type Sources } from './bwrap-args.ts';
import { devicesOf } from './devices.ts';
import { giveTo, openToAll, userOf } from './owner.ts';
import { childrenOf } from './process-tree.ts';
import { removeData } from './remove-data.ts';
import { RunningChild } from './running.ts';
import { RESOLV_CONF, slirpProblem, startSlirp } from './slirp.ts';
import type { OnLine, RunningExtension, Sandbox, SandboxSpec } from './types.ts';

const CHECK_MS = 5000;
const START_MS = 10_000;
const MAX_INFO_CHARS = 4096;
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

export interface BwrapOptions {
  /** The Node binary for extensions. */
  readonly node: string;
  /** Whether the node runs as root. */
  readonly asRoot: boolean;
}

/** Why this machine cannot make such sandboxes, as a sentence; null if it can. */
export async function bwrapProblem(): Promise<string | null> {
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
    await runProgram('bwrap', [...test, '--', '/usr/bin/true'], CHECK_MS);
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
    const outbound = spec.grants.has('network.outbound');
    const devices = await devicesOf(spec.grants, spec.closedDevices);
    const machine = { roots: await rootArguments(), devices };
    const { node } = this.#options;
    const [program = 'bwrap', ...args] = this.#options.asRoot
      ? await asAnotherUser(spec, node, devices, (sources) => bwrapCommand(spec, sources, machine))
      : bwrapCommand(spec, { ...sourcesOf(spec), node }, machine);
    const child = spawn(program, args, {
      // No descriptor that is not used: it would stay open inside.
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(outbound ? (['pipe', 'pipe'] as const) : [])],
      env: { PATH },
      cwd: '/',
    });
    for (const pipe of child.stdio) pipe?.on('error', () => undefined); // it has ended, which 'close' tells
    let init: number | null = null; // the first process of its process namespace: all others end with it
    const running = new RunningChild({
      child,
      onLine,
      maxMemoryMiB: spec.resources.max_ram_mb,
      terminate: async () => init !== null && terminateChildren(init),
      killAll() {
        if (init !== null) killIfThere(init);
        child.kill('SIGKILL');
      },
    });
    try {
      init = await within(
        firstProcess(child, running),
        START_MS,
        () => new Error('bubblewrap does not start'),
      );
      running.pid = init;
      if (outbound) await this.#connect(child, init, running);
      return running;
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  async forget(_id: string, data: string): Promise<void> {
    await removeData(data);
  }

  async #connect(child: ChildProcess, init: number, running: RunningChild): Promise<void> {
    const pipes: readonly unknown[] = child.stdio;
    (pipes[FD.resolv] as Writable).end(RESOLV_CONF);
    const outer = child.pid;
    if (outer === undefined) throw new Error('bubblewrap does not run');
    const end = await startSlirp(this.#options.asRoot ? { path: `/proc/${init}/ns/net` } : { pid: outer });
    void running.ended.then(end);
    (pipes[FD.block] as Writable).end('1');
  }
}

function sourcesOf({ install, data, sockets }: SandboxSpec): Omit<Sources, 'node'> {
  return { extension: install, data, sockets };
}

/**
 * As root, the extension gets a user of its own: the kernel does not limit root's processes. That user cannot reach the node's
 * folders, so a first bubblewrap, which only mounts, puts them where it can.
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
  const at = '/tmp/svc';
  const sources = {
    extension: `${at}/extension`,
    data: `${at}/data`,
    sockets: `${at}/sockets`,
    node: `${at}/node`,
  };
  const mounts = [
    ['--die-with-parent', '--dev-bind', '/', '/', '--tmpfs', '/tmp', '--perms', '0755', '--dir', at],
    ['--ro-bind', spec.install, sources.extension, '--bind', spec.data, sources.data],
    ['--bind', spec.sockets, sources.sockets, '--ro-bind', node, sources.node, '--'],
  ];
  const drop = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--pdeathsig=KILL', '--no-new-privs'];
  const group = groups.size === 0 ? '--clear-groups' : `--groups=${[...groups].join(',')}`;
  return ['bwrap', ...mounts.flat(), ...drop, group, ...inner(sources)];
}

/** @returns the process id, in this process's namespace, of the first process inside. */
async function firstProcess(child: ChildProcess, running: RunningChild): Promise<number> {
  const info = child.stdio[FD.info] as Readable;
  let text = '';
  const told = new Promise<number>((resolve) => {
    info.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(0, MAX_INFO_CHARS);
      const pid = /"child-pid": *(\d+)/.exec(text)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
  });
  const died = running.ended.then(({ exit }) => {
    throw new Error(`bubblewrap did not start it (${exit}): ${running.lastWords}`);
  });
  return Promise.race([told, died]);
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
