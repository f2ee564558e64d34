import { readFile } from 'node:fs/promises';
import { arch, cpus, totalmem } from 'node:os';

export interface Board {
  /** The maker's name of the machine: device tree, else DMI, else null. */
  readonly name: string | null;
  /** 1 to 4 by memory: below 1, 2, 4 GB, and from 4 GB on. What an extension may ask for as its minimum. */
  readonly tier: number;
  readonly soc: string | null;
  readonly arch: string;
  readonly cpu_cores: number;
  readonly ram_mb: number;
}

const MIB = 1024 * 1024;
// A "1 GB" board reports less memory, so each limit is a tenth below its round number.
const TIER_STEPS_MB = [900, 1800, 3600];

/** Describes this machine. Read once; null for a file that does not exist. */
export async function detectBoard(): Promise<Board> {
  const ramMb = Math.round(totalmem() / MIB);
  const compatible = (await firstText(['/proc/device-tree/compatible']))
    ?.split('\0')
    .filter((part) => part !== '');
  return {
    name: await firstText(['/proc/device-tree/model', '/sys/class/dmi/id/product_name']),
    tier: 1 + TIER_STEPS_MB.filter((step) => ramMb >= step).length,
    soc: compatible?.at(-1) ?? cpus()[0]?.model.trim() ?? null,
    arch: arch(),
    cpu_cores: cpus().length,
    ram_mb: ramMb,
  };
}

async function firstText(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'EACCES') return '';
      throw error;
    });
    const plain = text.replace(/\0+$/, '').trim();
    if (plain !== '') return plain;
  }
  return null;
}
