import { SYSTEM_CALLS } from './system-calls.ts';

/** Instructions of classic BPF (linux/bpf_common.h), as seccomp(2) takes them. */
const LOAD_WORD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const IF_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const IF_GREATER = 0x25; // BPF_JMP | BPF_JGT | BPF_K
const IF_AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

/** Offsets in struct seccomp_data. */
const NUMBER = 0;
const ARCHITECTURE = 4;

const ALLOW = 0x7fff_0000; // SECCOMP_RET_ALLOW
const EPERM = 0x0005_0000 + 1; // SECCOMP_RET_ERRNO, as SystemCallErrorNumber= of the unit

/** By `process.arch`: AUDIT_ARCH_* of linux/audit.h, and the column of its numbers. */
const ARCHITECTURES: Readonly<Record<string, readonly [audit: number, column: 0 | 1]>> = {
  x64: [0xc000_003e, 0],
  arm64: [0xc000_00b7, 1],
};

type Instruction = readonly [code: number, then: number, otherwise: number, value: number];

/**
 * The filter of system calls for extensions, an array of struct sock_filter: those of the table, and EPERM for all others and for
 * every call of another architecture (i386 on x86-64). The x32 calls of x86-64 have numbers beyond all of the table's.
 * @param arch as `process.arch`
 * @returns null for an architecture whose numbers are not known
 */
export function systemCallFilter(arch: string): Buffer | null {
  const known = ARCHITECTURES[arch];
  if (known === undefined) return null;
  const [audit, column] = known;
  const numbers = Object.values(SYSTEM_CALLS).flatMap((row) => row[column] ?? []);
  return encode([
    [LOAD_WORD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, EPERM],
    [LOAD_WORD, 0, 0, NUMBER],
    ...rangesOf(numbers).flatMap(within),
    [RETURN, 0, 0, EPERM],
  ]);
}

/** They come in rising order, so what is not beyond a range is decided there: in it, or in none. */
function within([first, last]: readonly [number, number]): readonly Instruction[] {
  return [
    [IF_GREATER, 3, 0, last],
    [IF_AT_LEAST, 0, 1, first],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, EPERM],
  ];
}

function rangesOf(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range?.[1] === number - 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** Both architectures are little-endian. */
function encode(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, then, otherwise, value]] of instructions.entries()) {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(then, index * 8 + 2);
    program.writeUInt8(otherwise, index * 8 + 3);
    program.writeUInt32LE(value, index * 8 + 4);
  }
  return program;
}
