/** The exit codes of every `svc` command, in one place; `svc --help` prints them (oclif.description in package.json). */
export const EXIT = {
  done: 0,
  /** The node or the vehicle refused or failed; also for a failed check or a difference. */
  refused: 1,
  /** Wrong arguments or flags: nothing was done. */
  usage: 2,
  /** No node answers there. */
  noNode: 3,
} as const;
