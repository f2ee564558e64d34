import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { removeDir, tempDir } from './temp.ts';

const run = promisify(execFile);
const MIRROR = 'http://deb.debian.org/debian';
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Null where this machine can boot another system beside itself, else why not. */
export async function noMachines(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'needs root';
  for (const program of ['debootstrap', 'systemd-nspawn'])
    if (!(await run('sh', ['-c', `command -v ${program}`]).catch(() => false))) return `needs ${program}`;
  return null;
}

/** What a program has left. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A Debian 12 of its own, booted with its own systemd, without Node and without network. SVC_TEST_DEBIAN may name a folder in
 * which debootstrap has made it before, which takes a minute.
 */
export class Machine {
  /** Its root folder. */
  readonly root: string;
  readonly #nspawn: ChildProcess;
  #leader = '';

  private constructor(root: string, nspawn: ChildProcess) {
    this.root = root;
    this.#nspawn = nspawn;
  }

  /** @param prepare puts into its root folder what it has before it boots */
  static async boot(prepare: (root: string) => Promise<void>): Promise<Machine> {
    const root = await tempDir();
    await chmod(root, 0o755); // it is the root folder of all users there
    const ready = process.env['SVC_TEST_DEBIAN'];
    if (ready === undefined) await bootstrap(root, ['systemd', 'systemd-sysv', 'dbus']);
    else await run('cp', ['-a', '--reflink=auto', `${ready}/.`, root]);
    await prepare(root);
    // Unified control groups, and systemd's filter programs for addresses: as on the boards.
    const bpf = ['--system-call-filter=bpf', '--capability=CAP_BPF,CAP_PERFMON,CAP_NET_ADMIN'];
    const quiet = ['--register=no', '--keep-unit', '--private-network', '--boot'];
    const nspawn = spawn('systemd-nspawn', ['-D', root, ...quiet, ...bpf], {
      stdio: 'ignore',
      env: { PATH, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' },
    });
    const machine = new Machine(root, nspawn);
    const children = `/proc/${nspawn.pid}/task/${nspawn.pid}/children`;
    for (let state = ''; !/^(?:running|degraded)$/.test(state); ) {
      if (nspawn.exitCode !== null) throw new Error(`systemd-nspawn ended with ${nspawn.exitCode}`);
      machine.#leader = (await readFile(children, 'utf8')).trim().split(' ')[0] ?? '';
      // Before it is the machine's init, it is still in our own namespaces.
      const init = await readFile(`/proc/${machine.#leader}/comm`, 'utf8').catch(() => '');
      state =
        init.trim() === 'systemd' ? await machine.inside('systemctl', 'is-system-running', '--wait') : '';
    }
    return machine;
  }

  /** Runs a program of this machine in its network, for example `ip`. @returns what it prints */
  async network(...command: readonly string[]): Promise<string> {
    return (await run('nsenter', ['-t', this.#leader, '-n', ...command])).stdout;
  }

  /** Runs a program inside, as root, to its end. */
  async ended(...command: readonly string[]): Promise<Ended> {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    return run('nsenter', this.#enter(command), options).then(
      (done) => ({ ...done, code: 0 }),
      (error: Ended) => error,
    );
  }

  /** Runs a program inside, as root. @returns what it prints; also if it fails */
  async inside(...command: readonly string[]): Promise<string> {
    return (await this.ended(...command)).stdout.trim();
  }

  /** Starts a program inside, as root; its input and output are piped. */
  spawn(...command: readonly string[]) {
    return spawn('nsenter', this.#enter(command), { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  /** Starts a Node script inside as the node's user; its output is piped. */
  spawnAsNode(...args: readonly string[]) {
    const as = ['setpriv', '--reuid=svc', '--regid=svc', '--init-groups'];
    return this.spawn(...as, '/opt/svc/current/node_modules/.bin/node', ...args);
  }

  async destroy(): Promise<void> {
    const gone = once(this.#nspawn, 'exit');
    this.#nspawn.kill('SIGTERM');
    const late = setTimeout(() => this.#nspawn.kill('SIGKILL'), 15_000);
    await gone;
    clearTimeout(late);
    await removeDir(this.root);
  }

  #enter(command: readonly string[]): string[] {
    return ['-t', this.#leader, ...'-m -u -i -n -p -C'.split(' '), 'env', '-i', `PATH=${PATH}`, ...command];
  }
}

/** Makes a Debian 12 in a folder: what cannot be left out of one, and these packages. */
export async function bootstrap(root: string, packages: readonly string[]): Promise<void> {
  const include = packages.length === 0 ? [] : [`--include=${packages.join(',')}`];
  const options = { maxBuffer: 16 * 1024 * 1024 };
  await run('debootstrap', ['--variant=minbase', ...include, 'bookworm', root, MIRROR], options);
}
