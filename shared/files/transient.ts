/** Says nothing about the file itself: out of descriptors or memory, a device that failed to answer this time. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'EMFILE',
  'ENFILE',
  'EIO',
  'ENOMEM',
  'EAGAIN',
  'EBUSY',
  'EINTR',
  'ETIMEDOUT',
  'ESTALE',
]);

/** Whether an error of the file system is of the moment, so that the same call may succeed the next time. */
export function isTransient(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && TRANSIENT.has(code);
}
