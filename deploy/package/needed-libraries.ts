import { join } from 'node:path';
import { runProgram } from '../../shared/process/run-program.ts';

const READ_MS = 120_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;

/** The first libstdc++6 of Debian with a version of its symbols (GCC's manual, "ABI policy and guidelines"). */
const LIBSTDCXX: Readonly<Record<string, number>> = {
  'GLIBCXX_3.4.21': 5,
  'GLIBCXX_3.4.22': 6,
  'GLIBCXX_3.4.23': 7,
  'GLIBCXX_3.4.24': 7,
  'GLIBCXX_3.4.25': 8,
  'GLIBCXX_3.4.26': 9,
  'GLIBCXX_3.4.29': 11,
  'GLIBCXX_3.4.30': 12,
  'CXXABI_1.3.9': 5,
  'CXXABI_1.3.10': 6,
  'CXXABI_1.3.11': 7,
  'CXXABI_1.3.12': 9,
  'CXXABI_1.3.13': 11,
};

interface NeededLibraries {
  /** The oldest glibc that has every symbol, `2.28`. */
  readonly glibc: string;
  /** For the field Depends. */
  readonly depends: readonly string[];
}

/** What the programs need of the machine's C and C++ libraries, from the versions of the symbols that they import. */
export async function neededLibraries(tree: string, programs: readonly string[]): Promise<NeededLibraries> {
  const paths = programs.map((program) => join(tree, program));
  const told = await runProgram('readelf', ['--wide', '--version-info', ...paths], READ_MS, {
    maxBytes: OUTPUT_BYTES,
  });
  return neededFrom(told);
}

/** @param told what readelf --version-info prints @throws Error for a version of libstdc++ that the list does not have */
export function neededFrom(told: string): NeededLibraries {
  const versions = new Set([...told.matchAll(/Name: (\S+)/g)].map(([, name]) => name ?? ''));
  const glibc = [...versions]
    .filter((name) => name.startsWith('GLIBC_2.'))
    .map((name) => Number(name.slice('GLIBC_2.'.length).split('.')[0]));
  const cxx = [...versions]
    .filter((name) => /^(?:GLIBCXX_3\.4\.\d|CXXABI_1\.3\.\d)/.test(name))
    .map(libstdcxx);
  const libc = `2.${Math.max(...glibc)}`;
  return {
    glibc: libc,
    depends: [
      `libc6 (>= ${libc})`,
      'libgcc-s1',
      ...(cxx.length === 0 ? [] : [`libstdc++6 (>= ${Math.max(...cxx)})`]),
    ],
  };
}

function libstdcxx(name: string): number {
  const patch = Number(name.split('.').at(-1));
  const oldest = name.startsWith('GLIBCXX') ? 21 : 9;
  const version = patch < oldest ? 5 : LIBSTDCXX[name];
  if (version === undefined) throw new Error(`${name}: not known in which libstdc++6 it came`);
  return version;
}
