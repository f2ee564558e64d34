import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A test that dies must not leave a disk for which everybody waits who syncs. */
const LONGEST_S = 90;

/** A disk of its own, in a file, whose writers the kernel holds or refuses when it is told to. Needs root, fsfreeze, mkfs.ext4 and a loop device. */
export class FreezableDisk {
  readonly #disk: string;
  readonly #mounted: string[] = [];
  #guard: ChildProcess | null = null;

  /** @param folder where it is made @param mb what it holds; sparse */
  constructor(folder: string, mb = 96) {
    const image = join(folder, 'image');
    this.#disk = join(folder, 'disk');
    execFileSync('truncate', ['-s', `${mb}M`, image]);
    execFileSync('mkfs.ext4', ['-q', '-F', image]);
    mkdirSync(this.#disk);
    this.#mount('-o', 'loop,errors=remount-ro', image, this.#disk);
  }

  /** From now on the folder, with what is in it, is on the disk. @param name by which no other is */
  hold(name: string, folder: string): void {
    const inside = join(this.#disk, name);
    mkdirSync(folder, { recursive: true });
    cpSync(folder, inside, { recursive: true });
    this.#mount('--bind', inside, folder);
  }

  freeze(): void {
    execFileSync('fsfreeze', ['-f', this.#disk]);
    const thaw = 'sleep "$1"; exec fsfreeze -u "$2"';
    this.#guard = spawn('sh', ['-c', thaw, 'sh', String(LONGEST_S), this.#disk], {
      detached: true,
      stdio: 'ignore',
    });
    this.#guard.unref();
  }

  /** From now on it is read-only, as the kernel makes one on which it has found an error; for good. */
  breakDown(): void {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const [device = ''] = mounts.find((line) => line.split(' ')[1] === this.#disk)?.split(' ') ?? [];
    writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, '1');
  }

  thaw(): void {
    if (this.#guard === null) return;
    execFileSync('fsfreeze', ['-u', this.#disk]);
    this.#guard.kill();
    this.#guard = null;
  }

  remove(): void {
    this.thaw();
    for (const place of this.#mounted.splice(0).toReversed()) execFileSync('umount', ['-l', place]);
  }

  #mount(...args: readonly string[]): void {
    execFileSync('mount', args);
    this.#mounted.push(args.at(-1) ?? '');
  }
}
