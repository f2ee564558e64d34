import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Command } from '@oclif/core';
import { messageOf } from '../../shared/errors.ts';
import { textOf } from '../../shared/files/text-of.ts';
import { EXIT } from './exit-codes.ts';

const STDIN = '-';

/** The text of a file of other programs, in whatever encoding they write. @param path `-`: what comes on stdin */
export async function readText(command: Command, path: string): Promise<string> {
  try {
    return textOf(path === STDIN ? await buffer(process.stdin) : await readFile(path));
  } catch (error) {
    const what = path === STDIN ? 'What came on stdin' : path;
    return command.error(`${what}: ${messageOf(error)}`, { exit: EXIT.usage });
  }
}
