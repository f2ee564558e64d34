/**
 * What a runtime reserves without using it, MiB, and what RLIMIT_DATA counts nevertheless: stacks of threads, arenas, and V8's
 * range for compiled code, which depends on the machine. Measured on Node 24.
 */
const RESERVED_MIB = 256;
const CODE_RANGE_MIB = process.arch === 'x64' ? 512 : 128;

/**
 * RLIMIT_DATA, in bytes, for a process that may use `maxMiB`. A second net, above the limit for all processes together: some
 * boards' kernels have that turned off.
 */
export function dataLimit(runtime: 'node' | 'binary' | 'python', maxMiB: number): number {
  const reserved = RESERVED_MIB + (runtime === 'node' ? CODE_RANGE_MIB : 0);
  return (maxMiB + reserved) * 1024 * 1024;
}
