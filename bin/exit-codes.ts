/** The exit codes of every `svc` command, in one place; `svc --help` prints them. */
export const EXIT = {
  done: 0,
  /** The node or the vehicle refused or failed; also what a command looked for and found: a failed check, a difference. */
  refused: 1,
  /** Wrong words, flags or values: nothing was done. */
  usage: 2,
  /** No node answers there. */
  noNode: 3,
} as const;

export const EXIT_HELP =
  'Exit codes: 0 done; 1 the node refused or failed, or a check found something (doctor, audit verify, params diff); ' +
  '2 wrong usage, nothing was done; 3 no node is running there.';
