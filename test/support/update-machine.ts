import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { updateStatus } from '../../bin/helper/update/progress.ts';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { runProgram } from '../../shared/process/run-program.ts';
import type { UpdateStatus } from '../../shared/schemas/update.ts';
import { type InstallPlaces, installPlaces } from '../../shared/update/install-places.ts';
import { bundleOf, type KeyPair, newKeys, type TreeOptions, writeVersion } from './bundles.ts';
import { fileSays } from './events.ts';
import { ROOT } from './node.ts';
import { removeDir, tempDir } from './temp.ts';

const RUN_MS = 60_000;

/** A node that is only its control.sock: it says its version, and that it is well. Its state has a file of its own form. */
const TINY_NODE = (version: string): string => `
import { createServer } from 'node:http';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
const { SVC_RUN_DIR, SVC_STATE_DIR } = process.env;
writeFileSync(SVC_STATE_DIR + '/setup.new', JSON.stringify({ written_by: '${version}' }));
renameSync(SVC_STATE_DIR + '/setup.new', SVC_STATE_DIR + '/setup.json');
const socket = SVC_RUN_DIR + '/control.sock';
rmSync(socket, { force: true });
const answers = {
  '/api/version': { agent_version: '${version}' },
  '/readyz': { ready: true },
  '/api/services': { services: [{ name: 'svc-control', kind: 'process', state: 'running', pid: process.pid }] },
  '/api/status': { armed: process.env.TINY_ARMED === 'true' },
};
createServer((req, res) => res.end(JSON.stringify(answers[req.url]))).listen(socket);
`;

/** Programs of the machine. Each waits for ever at the point whose name is in the file \`hang\`, once it has said so. */
const PROGRAM = `#!/bin/sh
here=$(dirname "$0")
base=$(dirname "$here")
. "$base/env"
at() {
  [ "$(cat "$base/hang" 2>/dev/null)" = "$1" ] || return 0
  echo "$1" >"$base/hangs"
  exec sleep 600
}
stop() {
  [ ! -f "$base/node.pid" ] || kill -9 "$(cat "$base/node.pid")" 2>/dev/null
  rm -f "$base/node.pid"
}
start() {
  "$base/root/opt/svc/svc-switch" boot
  setsid "$base/root/opt/svc/current/bin/svc" </dev/null >/dev/null 2>&1 &
  echo $! >"$base/node.pid"
}
case "$(basename "$0") $*" in
  'systemctl restart svc.service') at restart:before; stop; start; at restart:after ;;
  'systemctl start --no-block -- svc-update.service')
    (while ! "$NODE" "${ROOT}/bin/helper/update/main.ts" >>"$base/updater.log" 2>&1; do :; done) </dev/null >/dev/null 2>&1 & ;;
  systemd-run*)
    shift 4
    at "$2:before"
    "$@" || exit
    at "$2:after" ;;
  sync*) at sync; exec /bin/sync "$@" ;;
  *) echo "$0 $*" >>"$base/unknown"; exit 1 ;;
esac
`;

/** Where an updater can be stopped, besides anywhere. */
export const POINTS = [
  'sync',
  'to:before',
  'to:after',
  'restart:before',
  'restart:after',
  'well:before',
  'well:after',
  'confirm:before',
  'confirm:after',
] as const;

/** An installed node below a folder: versions, switch, updater, and programs instead of systemd. */
export class UpdateMachine {
  readonly base: string;
  readonly places: InstallPlaces;
  readonly paths: Paths;
  readonly keys: KeyPair = newKeys();
  #made = 0;

  private constructor(base: string) {
    this.base = base;
    this.places = installPlaces(join(base, 'root'));
    this.paths = pathsFrom(this.env);
  }

  /** Version 1.0.0 is installed, and runs. */
  static async start(): Promise<UpdateMachine> {
    const machine = new UpdateMachine(await tempDir());
    const { places, paths, base } = machine;
    for (const folder of [paths.etc, paths.run, join(paths.state, 'update'), places.versions, places.keys])
      await mkdir(folder, { recursive: true });
    await mkdir(join(base, 'bin'));
    const lines = Object.entries(machine.env).map(([name, value]) => `export ${name}='${value}'\n`);
    await writeFile(join(base, 'env'), lines.join('')); // systemd does not pass on that of its callers either
    for (const name of ['systemctl', 'systemd-run', 'sync'])
      await writeFile(join(base, 'bin', name), PROGRAM, { mode: 0o755 });
    await copyFile(join(ROOT, 'deploy/svc-switch'), places.svcSwitch);
    await chmod(places.svcSwitch, 0o755);
    await writeFile(join(places.keys, 'first.pub'), machine.keys.publicText);
    await writeVersion(join(places.versions, '1.0.0'), machine.version('1.0.0'));
    await machine.svcSwitch('set', '1.0.0');
    await machine.restart();
    return machine;
  }

  get env(): Readonly<Record<string, string>> {
    const { base } = this;
    return {
      SVC_SWITCH_ROOT: join(base, 'root'),
      SVC_ETC_DIR: join(base, 'etc'),
      SVC_RUN_DIR: join(base, 'run'),
      SVC_STATE_DIR: join(base, 'state'),
      SVC_HELPER_PATH: `${join(base, 'bin')}:/usr/bin:/bin`,
      SVC_UPDATE_HEALTH_MS: '8000',
      SVC_UPDATE_HOLD_MS: '300',
      SVC_UPDATE_TRIAL_MS: '2000',
      NODE: process.execPath,
    };
  }

  /** A version with a node that is well, unless \`program\` is another. */
  version(version: string, { program, floor = 0 }: { program?: string; floor?: number } = {}): TreeOptions {
    return {
      version,
      floor,
      files: {
        'bin/svc': `#!/bin/sh\nexec "$NODE" "$(dirname "$(readlink -f "$0")")/../node.mjs"\n`,
        'node.mjs': program ?? TINY_NODE(version),
        'node_modules/.bin/node': '#!/bin/sh\nexec "$NODE" "$@"\n',
        'dist/bin/helper/update/main.js': `await import(${JSON.stringify(join(ROOT, 'bin/helper/update/main.ts'))});\n`,
        'deploy/root/usr/lib/svc-test': `of ${version}\n`,
        'current-link': '->bin/svc',
      },
    };
  }

  /** A bundle of this machine's key, unless \`of\` says another. @returns its file */
  async bundle(
    options: TreeOptions,
    of: Partial<Pick<Parameters<typeof bundleOf>[3], 'arch' | 'newKeys'>> & { readonly keys?: KeyPair } = {},
  ): Promise<string> {
    const { keys = this.keys, ...more } = of;
    const at = join(this.base, `made-${this.#made++}`);
    await bundleOf(at, `${at}.svcup`, keys, { ...options, ...more });
    return `${at}.svcup`;
  }

  async svcSwitch(...args: readonly string[]): Promise<string> {
    return runProgram(this.places.svcSwitch, args, RUN_MS, { env: this.#environment() });
  }

  /** As systemd does. */
  async restart(): Promise<void> {
    await runProgram(join(this.base, 'bin/systemctl'), ['restart', 'svc.service'], RUN_MS, {
      env: this.#environment(),
    });
  }

  async upload(file: string): Promise<void> {
    await copyFile(file, this.paths.updateUpload);
  }

  /** The updater, with what lies there. */
  spawnUpdater(env: Readonly<Record<string, string>> = {}): ChildProcess {
    return spawn(process.execPath, [join(ROOT, 'bin/helper/update/main.ts')], {
      env: { ...this.#environment(), ...env },
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true, // a group of its own, with the programs that it runs
    });
  }

  /** Runs the updater to its end. */
  async update(file: string | null, env: Readonly<Record<string, string>> = {}): Promise<UpdateStatus> {
    if (file !== null) await this.upload(file);
    await once(this.spawnUpdater(env), 'close');
    return this.status();
  }

  /** Resolves with an updater that waits at one of \`POINTS\`. */
  async hung(point: string): Promise<ChildProcess> {
    await writeFile(join(this.base, 'hang'), point);
    const updater = this.spawnUpdater();
    const hangs = fileSays(join(this.base, 'hangs'), (text) => text !== '');
    const ended = once(updater, 'exit').then(async () => {
      throw new Error(`it has not come to ${point}: ${JSON.stringify(await this.status())}`);
    });
    await Promise.race([hangs, ended]);
    return updater;
  }

  /** As kill -9 of the updater with its programs. */
  async kill(updater: ChildProcess): Promise<void> {
    const gone = once(updater, 'close');
    if (updater.pid !== undefined) process.kill(-updater.pid, 'SIGKILL');
    await gone;
    await removeDir(join(this.base, 'hang'));
    await removeDir(join(this.base, 'hangs'));
  }

  async killNode(): Promise<void> {
    const pid = await readFile(join(this.base, 'node.pid'), 'utf8').catch(() => null); // it does not run
    if (pid === null) return;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await removeDir(join(this.base, 'node.pid'));
  }

  /** Resolves when the updater has said that it is there. */
  async comesTo(step: UpdateStatus['step']): Promise<void> {
    await fileSays(this.places.progress, (text) => (JSON.parse(text) as UpdateStatus).step === step);
  }

  async running(): Promise<string> {
    return basename(await readlink(this.places.current));
  }

  async status(): Promise<UpdateStatus> {
    const status = await updateStatus(this.places);
    if (status === null) throw new Error('nothing is installed');
    return status;
  }

  /** The svc command, as this user. @returns what it prints */
  async cli(...args: readonly string[]): Promise<string> {
    const all = [join(ROOT, 'bin/svc.js'), ...args];
    return runProgram(process.execPath, all, RUN_MS, { env: this.#environment() });
  }

  async stop(): Promise<void> {
    await this.killNode();
    await removeDir(this.base);
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.env, PATH: `${join(this.base, 'bin')}:/usr/bin:/bin` };
  }
}
