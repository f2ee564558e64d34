import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDir, tempDir } from './temp.ts';

/** The real avahi-daemon, with a system bus of its own, in a network namespace: nothing of it is seen elsewhere on this machine. */
export class Avahi {
  readonly #base: string;
  readonly #bus: ChildProcess;
  readonly #daemon: ChildProcess;

  private constructor(base: string, bus: ChildProcess, daemon: ChildProcess) {
    this.#base = base;
    this.#bus = bus;
    this.#daemon = daemon;
  }

  /** @param prefix what runs a program in that namespace. @param name the machine's own */
  static async start(prefix: readonly string[], name: string): Promise<Avahi> {
    const base = await tempDir();
    const text = await readFile(join(import.meta.dirname, 'network/bus.conf'), 'utf8');
    const [busConfig, config] = [join(base, 'bus.conf'), join(base, 'avahi.conf')];
    await writeFile(busConfig, text.replace('@BUS@', join(base, 'bus.sock')));
    await writeFile(config, `[server]\nhost-name=${name}\nuse-ipv6=no\n`);
    const bus = spawn(
      'dbus-daemon',
      [`--config-file=${busConfig}`, '--nofork', '--nopidfile', '--print-address'],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    await once(bus.stdout, 'data');
    // It has one place for its own files, below /run.
    const script =
      'mount -t tmpfs run /run && mkdir /run/avahi-daemon && PATH=$PATH:/usr/sbin exec avahi-daemon "$@"';
    const options = ['-f', config, '--no-drop-root', '--no-chroot', '--no-rlimits'];
    const [program = '', ...before] = prefix;
    const daemon = spawn(
      program,
      [
        ...before,
        'unshare',
        '--mount',
        '--propagation',
        'private',
        'sh',
        '-c',
        script,
        'avahi-daemon',
        ...options,
      ],
      {
        env: { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${join(base, 'bus.sock')}` },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let output = '';
    await new Promise<void>((resolve, reject) => {
      daemon.stderr.on('data', (bytes: Buffer) => {
        output += bytes.toString();
        if (output.includes('Server startup complete')) resolve();
      });
      daemon.once('exit', () => reject(new Error(`avahi-daemon: ${output}`)));
    });
    return new Avahi(base, bus, daemon);
  }

  /** For a node that has it. */
  get env(): Readonly<Record<string, string>> {
    return { DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${join(this.#base, 'bus.sock')}` };
  }

  /** Ends the daemon alone. */
  async end(): Promise<void> {
    if (this.#daemon.exitCode !== null || this.#daemon.signalCode !== null) return;
    const gone = once(this.#daemon, 'exit');
    this.#daemon.kill('SIGTERM');
    await gone;
  }

  async stop(): Promise<void> {
    await this.end();
    const gone = once(this.#bus, 'exit');
    this.#bus.kill('SIGTERM');
    await gone;
    await removeDir(this.#base);
  }
}
