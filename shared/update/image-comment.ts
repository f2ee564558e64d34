/** What the signature of a memory card's image says of it: its trusted comment. */

interface ImageComment {
  readonly version: string;
  readonly board: string;
  readonly suite: string;
}

const COMMENT = /^svc (\S+) image (\S+) (\S+)$/;

export function imageComment({ version, board, suite }: ImageComment): string {
  return `svc ${version} image ${board} ${suite}`;
}

/** @returns null for the comment of something else */
export function readImageComment(comment: string): ImageComment | null {
  const [, version, board, suite] = COMMENT.exec(comment) ?? [];
  return version === undefined || board === undefined || suite === undefined
    ? null
    : { version, board, suite };
}
