import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './node.ts';
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

/**
 * A Debian 12 of its own, booted with its own systemd, with the node's units, the compiled node and svc-helper as installed.
 * svc.service is the shipped one, except that it runs nothing. SVC_TEST_DEBIAN may name a folder in which debootstrap has made it
 * before, which takes a minute.
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

  static async boot(): Promise<Machine> {
    const root = await tempDir();
    await chmod(root, 0o755); // it is the root folder of all users there
    const ready = process.env['SVC_TEST_DEBIAN'];
    if (ready === undefined) await bootstrap(root);
    else await run('cp', ['-a', `${ready}/.`, root]);
    await install(root);
    // Unified control groups, and systemd's filter programs for addresses: as on the boards.
    const bpf = ['--system-call-filter=bpf', '--capability=CAP_BPF,CAP_PERFMON,CAP_NET_ADMIN'];
    const modules = `--bind-ro=${join(ROOT, 'node_modules')}:/opt/svc/node_modules`;
    const quiet = ['--register=no', '--keep-unit', '--private-network', '--boot'];
    const nspawn = spawn('systemd-nspawn', ['-D', root, ...quiet, ...bpf, modules], {
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

  /** Runs a program of this machine in its network, for example `ip`. */
  async network(...command: readonly string[]): Promise<void> {
    await run('nsenter', ['-t', this.#leader, '-n', ...command]);
  }

  /** Runs a program inside, as root. @returns what it prints; also if it fails */
  async inside(...command: readonly string[]): Promise<string> {
    const { stdout } = await run('nsenter', this.#enter(command)).catch((error: { stdout: string }) => error);
    return stdout.trim();
  }

  /** Starts a Node script inside as the node's user; its output is piped. */
  spawnAsNode(...args: readonly string[]) {
    const as = ['setpriv', '--reuid=svc', '--regid=svc', '--init-groups'];
    const command = this.#enter([...as, '/opt/svc/node_modules/.bin/node', ...args]);
    return spawn('nsenter', command, { stdio: ['pipe', 'pipe', 'inherit'] });
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

async function bootstrap(root: string): Promise<void> {
  const include = '--include=systemd,systemd-sysv,dbus';
  const options = { maxBuffer: 16 * 1024 * 1024 };
  await run('debootstrap', ['--variant=minbase', include, 'bookworm', root, MIRROR], options);
}

/** As deploy/install.sh does; the libraries are mounted instead of copied. */
async function install(root: string): Promise<void> {
  const dist = join(root, 'opt/svc/dist');
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json', '--outDir', dist], {
    cwd: ROOT,
  });
  await cp(join(ROOT, 'package.json'), join(root, 'opt/svc/package.json'));
  const units = join(root, 'etc/systemd/system');
  for (const unit of await readdir(join(ROOT, 'deploy/systemd')))
    await cp(join(ROOT, 'deploy/systemd', unit), join(units, unit));
  for (const [unit, target] of [
    ['svc.service', 'multi-user.target'],
    ['svc-helper.socket', 'sockets.target'],
  ] as const) {
    await mkdir(join(units, `${target}.wants`), { recursive: true });
    await symlink(`../${unit}`, join(units, `${target}.wants`, unit));
  }
  await mkdir(join(units, 'svc.service.d'));
  await writeFile(
    join(units, 'svc.service.d/test.conf'),
    '[Service]\nType=exec\nWatchdogSec=0\nExecStart=\nExecStart=/bin/sleep infinity\n',
  );
  for (const folder of ['sysusers.d', 'tmpfiles.d'])
    await cp(join(ROOT, 'deploy', folder), join(root, 'usr/lib', folder), { recursive: true });
  await run('systemd-sysusers', [`--root=${root}`, 'svc.conf']);
}
