import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askAgain } from './ask-again.ts';
import type { Ended } from './machine.ts';
import { freePort, removeDir, tempDir } from './temp.ts';

const run = promisify(execFile);

/** Where deploy/image/disk.ts has the boot partition. */
const BOOT_AT = '1M';
const GIB = 1024 ** 3;
/** Everything is emulated. */
const START_MS = 600_000;
const COMMAND_MS = 180_000;
const SSH = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'];

/** The machines: both start by UEFI; the memory is that of a Raspberry Pi Zero 2 W. */
const MACHINES = {
  'generic-amd64': {
    program: 'qemu-system-x86_64',
    firmware: '/usr/share/ovmf/OVMF.fd',
    options: ['-M', 'q35', '-cpu', 'max', '-smp', '2'],
  },
  'generic-arm64': {
    program: 'qemu-system-aarch64',
    firmware: '/usr/share/qemu-efi-aarch64/QEMU_EFI.fd',
    options: ['-M', 'virt', '-cpu', 'cortex-a53', '-smp', '4'],
  },
} as const;
export type VirtualBoardName = keyof typeof MACHINES;

/** Null where this machine can emulate that board, else what is missing. */
export async function noVirtualBoard(board: VirtualBoardName): Promise<string | null> {
  const { program, firmware } = MACHINES[board];
  for (const each of [program, 'mcopy', 'ssh'])
    if (!(await run('sh', ['-c', `command -v ${each}`]).catch(() => false))) return `needs ${each}`;
  return existsSync(firmware) ? null : `needs ${firmware}`;
}

interface BoardOptions {
  readonly board: VirtualBoardName;
  /** Of `npm run image -- --plain`. */
  readonly image: string;
  /** What is put on the boot partition, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** The size of the card, bytes. */
  readonly cardBytes?: number;
}

interface Ports {
  readonly api: number;
  readonly ssh: number;
}

/** An emulated board that starts from a card with an image. Its only network is this machine, which reaches it by forwarded ports. */
export class VirtualBoard {
  /** Of the API, here. */
  readonly url: string;
  readonly #board: VirtualBoardName;
  readonly #base: string;
  readonly #ports: Ports;
  #machine: ChildProcess | null = null;

  private constructor(board: VirtualBoardName, base: string, ports: Ports) {
    this.#board = board;
    this.#base = base;
    this.#ports = ports;
    this.url = `http://127.0.0.1:${ports.api}`;
  }

  /** Writes the card; nothing is started yet. */
  static async insert({
    board,
    image,
    files = {},
    cardBytes = 4 * GIB,
  }: BoardOptions): Promise<VirtualBoard> {
    const base = await tempDir();
    const made = new VirtualBoard(board, base, { api: await freePort(), ssh: await freePort() });
    await run('cp', ['--sparse=always', '--reflink=auto', image, made.card]);
    await truncate(made.card, cardBytes);
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(base, 'key')]);
    const key = await readFile(join(base, 'key.pub'), 'utf8');
    for (const [name, text] of Object.entries({ authorized_keys: key, ...files })) await made.put(name, text);
    return made;
  }

  /** The file that is its card. */
  get card(): string {
    return join(this.#base, 'card');
  }

  /** Writes a file to the boot partition, as its owner would on another computer. */
  async put(name: string, text: string): Promise<void> {
    const path = join(this.#base, 'file');
    await writeFile(path, text);
    await run('mcopy', ['-o', '-i', `${this.card}@@${BOOT_AT}`, path, `::${name}`]);
  }

  /** What the kernel and its init have printed since it was started. */
  async console(): Promise<string> {
    return readFile(join(this.#base, 'console'), 'utf8').catch(() => '');
  }

  /** Starts it, and waits for its API. @param more options of qemu, for example a card that cannot be written */
  async start({
    readonly = false,
    memoryMib = 1024,
  }: {
    readonly?: boolean;
    readonly memoryMib?: number;
  } = {}): Promise<void> {
    const { program, firmware, options } = MACHINES[this.#board];
    const { api, ssh } = this.#ports;
    const forward = `hostfwd=tcp:127.0.0.1:${api}-:8080,hostfwd=tcp:127.0.0.1:${ssh}-:22`;
    const machine = spawn(
      program,
      [
        options,
        ['-accel', 'tcg,thread=multi', '-m', String(memoryMib), '-bios', firmware],
        ['-drive', `if=none,id=card,format=raw,file=${this.card}${readonly ? ',readonly=on' : ''}`],
        ['-device', 'virtio-blk-pci,drive=card', '-device', 'virtio-rng-pci'],
        ['-netdev', `user,id=net,restrict=on,${forward}`, '-device', 'virtio-net-pci,netdev=net'],
        ['-display', 'none', '-monitor', 'none', '-serial', `file:${join(this.#base, 'console')}`],
      ].flat(),
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    machine.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    this.#machine = machine;
    await askAgain(
      `the board answers (${this.#board})`,
      async () => {
        if (machine.exitCode !== null) throw new Error(`${program} ended: ${said}`);
        const answer = await fetch(`${this.url}/api/version`, { signal: AbortSignal.timeout(5000) }).catch(
          () => null,
        );
        return answer?.status === 200 ? null : (await this.console()).slice(-2000);
      },
      (left) => left === null,
      START_MS,
    );
  }

  /** Runs a line of the shell there, as root, to its end. */
  async shell(line: string): Promise<Ended> {
    const args = [
      ...SSH,
      '-i',
      join(this.#base, 'key'),
      '-p',
      String(this.#ports.ssh),
      'root@127.0.0.1',
      line,
    ];
    return run('ssh', args, { timeout: COMMAND_MS, maxBuffer: 16 * 1024 * 1024 }).then(
      (done) => ({ ...done, code: 0 }),
      (error: Ended) => error,
    );
  }

  /** Turns it off by its own command, and waits until it is. */
  async powerOff(): Promise<void> {
    const gone = this.#gone();
    await this.shell('systemctl poweroff');
    await gone;
  }

  /** Takes away its power. */
  async cut(): Promise<void> {
    const gone = this.#gone();
    this.#machine?.kill('SIGKILL');
    await gone;
  }

  async destroy(): Promise<void> {
    await this.cut();
    await removeDir(this.#base);
  }

  async #gone(): Promise<void> {
    const machine = this.#machine;
    if (machine !== null && machine.exitCode === null && machine.signalCode === null)
      await once(machine, 'exit');
    this.#machine = null;
  }
}
