import { lstat, readlink } from 'node:fs/promises';
import { dataLimit } from '../../../../shared/process/data-limit.ts';
import { commandLine, environment, INSIDE } from './inside.ts';
import type { SandboxSpec } from './types.ts';

/** Descriptors of the child beside its standard ones. */
export const FD = { info: 3, gate: 4, seccomp: 5, resolv: 6 } as const;

/** Of what an extension may write outside of its data: these are memory of the machine. */
const TMP_BYTES = 16 * 1024 * 1024;
const MAX_FILE_BYTES = 1024 * 1024 * 1024;
const MAX_FILES = 1024;
const NICENESS = 10;
/** Bubblewrap's own process inside, which collects orphans, counts with the extension's. */
const OWN_PROCESSES = 1;
/**
 * Waits for the host before it becomes the extension. Only then does every process inside end with the host: while bubblewrap
 * sets itself up, its first process would outlive it.
 *
 * First it closes what the node inherited from whoever started it: Node marks only its lowest descriptors as its own. (Bash,
 * since other shells cannot name a descriptor above 9.)
 */
const GATE = `for fd in /proc/self/fd/*; do fd=\${fd##*/}; ((fd > 2 && fd != ${FD.gate})) && exec {fd}>&-; done
echo ready >&${FD.gate}; read -r go <&${FD.gate} || exit 1; exec ${FD.gate}>&-; exec env -u SHLVL -u _ "$@"`;

/** As seen by bubblewrap itself: where the sources of its mounts are. */
export interface Sources {
  readonly extension: string;
  readonly data: string;
  readonly sockets: string;
  readonly node: string;
}

export interface Machine {
  /** /bin, /lib and the like: `--symlink` or `--ro-bind` for each that this system has. */
  readonly roots: readonly string[];
  readonly devices: readonly string[];
}

/** The links and folders at the root that lead to /usr, as arguments. */
export async function rootArguments(): Promise<readonly string[]> {
  const found = await Promise.all(
    ['/bin', '/sbin', '/lib', '/lib32', '/lib64'].map(async (path) => {
      const stats = await lstat(path).catch(() => null); // not on this system
      if (stats === null) return [];
      return stats.isSymbolicLink() ? ['--symlink', await readlink(path), path] : ['--ro-bind', path, path];
    }),
  );
  return found.flat();
}

/**
 * The command that runs the extension in namespaces of its own: user, process, network, IPC, host name, cgroup and mount. There
 * is nothing inside but what stands here. Its first process is told on descriptor 3; on 5 there is the filter of its system calls.
 * When all is in place there is a line on 4, and it waits for one there.
 */
export function bwrapCommand(spec: SandboxSpec, sources: Sources, machine: Machine): readonly string[] {
  const outbound = spec.grants.has('network.outbound');
  const places = { ...INSIDE, node: '/opt/node' };
  const variables = Object.entries(environment(spec, places)).flatMap(([name, value]) => [
    '--setenv',
    name,
    value,
  ]);
  return [
    // Its network then belongs to a user namespace around bubblewrap's: slirp4netns can enter it, and inside nobody has a
    // right to it.
    outbound ? ['unshare', '--user', '--map-current-user', '--net', '--'] : [],
    ['bwrap', '--unshare-all', ...(outbound ? ['--share-net'] : [])],
    // No further user namespace inside: in one, a process has all capabilities towards code of the kernel.
    ['--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
    ['--die-with-parent', '--new-session', '--clearenv', ...variables],
    ['--ro-bind', '/usr', '/usr', ...machine.roots],
    ['--dev', '/dev', '--size', String(TMP_BYTES), '--tmpfs', '/dev/shm'],
    machine.devices.flatMap((path) => ['--dev-bind-try', path, path]),
    ['--remount-ro', '/dev', '--proc', '/proc', '--size', String(TMP_BYTES), '--tmpfs', '/tmp'],
    ['--ro-bind', sources.node, places.node],
    ['--ro-bind', sources.extension, places.extension],
    ['--bind', sources.data, places.data, '--bind', sources.sockets, places.sockets],
    outbound ? nameFiles() : [],
    spec.grants.has('filesystem.host') ? hostFolders() : [],
    ['--remount-ro', '/', '--chdir', places.data, '--info-fd', String(FD.info)],
    ['--seccomp', String(FD.seccomp)],
    ['--', '/bin/bash', '-c', GATE, 'bash', ...limits(spec), ...commandLine(spec, places)],
  ].flat();
}

/** What it takes to resolve names and to check certificates; none of it is the node's own. */
function nameFiles(): readonly string[] {
  const files = ['/etc/ssl/certs', '/etc/hosts'];
  return ['--ro-bind-data', String(FD.resolv), '/etc/resolv.conf'].concat(
    files.flatMap((path) => ['--ro-bind-try', path, path]),
  );
}

function hostFolders(): readonly string[] {
  return ['/srv', '/mnt', '/media'].flatMap((path) => ['--bind-try', path, path]);
}

/** Set inside the namespaces, where they count the extension's processes and not those of the whole user. */
function limits({ runtime, resources }: SandboxSpec): readonly string[] {
  return [
    'prlimit',
    `--nproc=${resources.max_pids + OWN_PROCESSES}`,
    `--data=${dataLimit(runtime, resources.max_ram_mb)}`,
    `--fsize=${MAX_FILE_BYTES}`,
    `--nofile=${MAX_FILES}`,
    '--core=0',
    'nice',
    '-n',
    String(NICENESS),
  ];
}
