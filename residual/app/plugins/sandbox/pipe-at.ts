import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';

/** Our end of a pipe beyond the three usual ones. @throws Error for a descriptor that was not opened as a pipe */
export function pipeAt(child: ChildProcess, fd: number): Duplex {
  const pipes: readonly unknown[] = child.stdio;
  const pipe = pipes[fd];
  if (!(pipe instanceof Duplex)) throw new Error(`descriptor ${fd} is no pipe`);
  return pipe;
}
