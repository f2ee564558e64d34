import { open, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Arch } from '../../shared/update/manifest.ts';

/** What the header of an ELF file says about the machine that it is for. */
interface ElfHeader {
  readonly bits: 32 | 64;
  /** `e_machine`: 62 is x86-64, 183 AArch64. */
  readonly machine: number;
}

const HEADER_BYTES = 20;
const MACHINES: Readonly<Record<Arch, number>> = { amd64: 62, arm64: 183 };
/** Programs of other systems: none of them may be in a package. */
const FOREIGN = [
  { name: 'Windows', starts: ['4d5a'] },
  { name: 'macOS', starts: ['feedface', 'feedfacf', 'cefaedfe', 'cffaedfe', 'cafebabe'] },
];

/** @returns null if the bytes do not start an ELF file */
export function readElf(bytes: Uint8Array): ElfHeader | null {
  if (bytes.length < HEADER_BYTES || Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== '\x7fELF')
    return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const littleEndian = bytes[5] === 1;
  return { bits: bytes[4] === 2 ? 64 : 32, machine: view.getUint16(18, littleEndian) };
}

/** @returns why a file that starts with these bytes does not run on Linux on the machine, null if it may be there */
export function foreign(bytes: Uint8Array, arch: Arch): string | null {
  const elf = readElf(bytes);
  if (elf !== null)
    return elf.bits === 64 && elf.machine === MACHINES[arch]
      ? null
      : `a ${elf.bits}-bit program of machine ${elf.machine}`;
  const start = Buffer.from(bytes.subarray(0, 4)).toString('hex');
  const system = FOREIGN.find(({ starts }) => starts.some((each) => start.startsWith(each)));
  return system === undefined ? null : `a program of ${system.name}`;
}

/** All files below a folder that are ELF, checked for the machine; relative, sorted. @throws Error naming each foreign program */
export async function checkPrograms(folder: string, arch: Arch): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const programs: string[] = [];
  const wrong: string[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const start = await firstBytes(path);
    const reason = foreign(start, arch);
    if (reason !== null) wrong.push(`${relative(folder, path)} is ${reason}`);
    else if (readElf(start) !== null) programs.push(relative(folder, path));
  }
  if (wrong.length > 0) throw new Error(`Not for ${arch}: ${wrong.toSorted().join('; ')}`);
  return programs.toSorted();
}

async function firstBytes(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
