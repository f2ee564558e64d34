/** Who reads what strangers have made, and who loads libraries that would telephone home, has no network (decisions 27). */

/**
 * A network namespace of its own, with nothing in it (unshare(1) of util-linux), in a user namespace, which needs no right. Where the
 * kernel or a container forbids that, it starts all the same. It stays one process, and keeps its open descriptors: a channel to us.
 */
const OFFLINE = [
  'sh',
  '-c',
  'set -- unshare --user --map-current-user --net -- "$@"; "$1" "$2" "$3" "$4" true 2>/dev/null || shift 5; exec "$@"',
  'sh',
] as const;

/** What starts a program without network, wherever the kernel lets a process give it up. */
export function offline(
  program: string,
  args: readonly string[],
): { readonly program: string; readonly args: readonly string[] } {
  const [shell, ...before] = OFFLINE;
  return { program: shell, args: [...before, program, ...args] };
}
