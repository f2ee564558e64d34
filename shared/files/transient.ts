/** Errors that do not concern the file itself: no descriptors or memory left, a device that failed this time. */
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

/** Whether an error of the file system is temporary, so that the same call may succeed next time. */
export function isTransient(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && TRANSIENT.has(code);
}
