import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, stat, truncate, utimes } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runProgram } from '../../shared/process/run-program.ts';

const MIB = 1024 * 1024;
const BOOT_MIB = 256;
const MS = 10 * 60_000;

/** The names of a disk's partitions, made of what it is made of. */
export interface DiskIds {
  /** Of the disk: a UUID, or eight hexadecimal digits (MBR). */
  readonly disk: string;
  /** As `PARTUUID=` has them. */
  readonly boot: string;
  readonly system: string;
}

/** @param table which kind @param inputs everything that the image depends on */
export function diskIds(table: 'gpt' | 'dos', inputs: readonly string[]): DiskIds {
  const hash = (use: string): string =>
    createHash('sha256')
      .update(JSON.stringify([use, ...inputs]))
      .digest('hex');
  if (table === 'dos') {
    const disk = hash('disk').slice(0, 8);
    return { disk, boot: `${disk}-01`, system: `${disk}-02` };
  }
  // A UUID of version 8, RFC 9562.
  const uuid = (use: string): string =>
    hash(use).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
  return { disk: uuid('disk'), boot: uuid('boot'), system: uuid('system') };
}

interface DiskInput {
  readonly table: 'gpt' | 'dos';
  readonly ids: DiskIds;
  /** The folder of what is on the boot partition. */
  readonly boot: string;
  readonly squashfs: string;
  readonly epoch: number;
  readonly work: string;
}

/** Writes an image: table, boot partition (FAT), system. The third partition is made on the card, at the first boot. */
export async function makeDisk(input: DiskInput, out: string): Promise<void> {
  const { table, ids, squashfs, work } = input;
  const fat = join(work, 'boot.fat');
  await makeFat(input, fat);
  const systemMib = Math.ceil((await stat(squashfs)).size / MIB);
  const [bootAt, systemAt] = [1, 1 + BOOT_MIB];
  await truncateNew(out, (systemAt + systemMib + 1) * MIB);
  const lines =
    table === 'gpt'
      ? [
          'label: gpt',
          `label-id: ${ids.disk}`,
          `start=${bootAt}MiB, size=${BOOT_MIB}MiB, type=U, uuid=${ids.boot}, name=svc-boot`,
          `start=${systemAt}MiB, size=${systemMib}MiB, type=L, uuid=${ids.system}, name=svc-system`,
        ]
      : [
          'label: dos',
          `label-id: 0x${ids.disk}`,
          `start=${bootAt}MiB, size=${BOOT_MIB}MiB, type=c, bootable`,
          `start=${systemAt}MiB, size=${systemMib}MiB, type=83`,
        ];
  const script = `${lines.join('\n')}\n`;
  await runProgram('sh', ['-c', 'printf %s "$0" | exec sfdisk --quiet "$1"', script, out], MS);
  await copyInto(fat, out, bootAt * MIB);
  await copyInto(squashfs, out, systemAt * MIB);
}

async function makeFat({ boot, epoch, ids }: DiskInput, fat: string): Promise<void> {
  await truncateNew(fat, BOOT_MIB * MIB);
  const id = createHash('sha256').update(ids.boot).digest('hex').slice(0, 8);
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch), TZ: 'UTC', MTOOLS_SKIP_CHECK: '1' };
  await runProgram('mkfs.vfat', ['-F', '32', '-n', 'SVC-BOOT', '-i', id, '--invariant', fat], MS, { env });
  const entries = await readdir(boot, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => ({
    path: join(entry.parentPath, entry.name),
    isFolder: entry.isDirectory(),
  }));
  for (const { path, isFolder } of paths.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const there = `::${relative(boot, path)}`;
    await utimes(path, epoch, epoch);
    if (isFolder) await runProgram('mmd', ['-i', fat, there], MS, { env });
    else await runProgram('mcopy', ['-i', fat, '-m', path, there], MS, { env });
  }
}

async function truncateNew(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'wx');
  await file.close();
  await truncate(path, bytes);
}

async function copyInto(from: string, image: string, at: number): Promise<void> {
  const file = await open(image, 'r+');
  await pipeline(createReadStream(from, { highWaterMark: MIB }), file.createWriteStream({ start: at }));
}
