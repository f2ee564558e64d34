import { constants, open } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { runProgram } from '../../../../shared/process/run-program.ts';

const MKFIFO_MS = 5000;

/**
 * Makes a named pipe that any user may write to, instead of what is there, and opens it for reading. The stream ends when the
 * last writer has closed it; until there is a first one it waits.
 */
export async function openFifo(path: string): Promise<Socket> {
  await rm(path, { force: true });
  await runProgram('mkfifo', ['-m', '0622', '--', path], MKFIFO_MS);
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  // Not a FileHandle: that would close the descriptor when it is collected.
  const fd = await promisify(open)(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  const stream = new Socket({ fd, readable: true, writable: false });
  stream.on('error', () => undefined); // 'close' follows
  return stream;
}
