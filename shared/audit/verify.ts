import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf } from '../errors.ts';
import { GENESIS, type Verdict, verifyChain } from './chain.ts';
import { type Head, headFile, readHead, readKey } from './head.ts';

export type FilesVerdict = Verdict & {
  /** Why beginning and end could not be checked; null if they were. */
  readonly head_not_checked: string | null;
};

/**
 * Checks the chain through the files of a ChainedLog, oldest first, against its signed head.
 * @param files as in ChainedLogOptions
 */
export function verifyFiles(path: string, files: number, keyFile: string): FilesVerdict {
  const paths = Array.from({ length: files }, (_, index) => (index === 0 ? path : `${path}.${index}`))
    .filter((name) => existsSync(name))
    .toReversed();
  let head: Head | string | null = null;
  let unchecked: string | null = null;
  try {
    const key = readKey(keyFile);
    if (key === null) unchecked = `${keyFile} does not exist`;
    else head = readHead(path, key) ?? `${headFile(path)} is missing`;
    // Before the first record there is neither file nor head.
    if (paths.length === 0 && typeof head === 'string' && !existsSync(headFile(path))) head = null;
  } catch (error) {
    unchecked = messageOf(error); // readable only by root and the service
  }
  if (typeof head === 'string')
    return { ok: false, file: basename(path), line: 0, why: head, head_not_checked: null };
  const texts = paths.map((name) => ({ name: basename(name), text: readFileSync(name, 'utf8') }));
  // Without a head: the oldest file of a full set continues a file that was removed.
  const from = head !== null || paths.length === files ? null : GENESIS;
  return { ...verifyChain(texts, from, head), head_not_checked: unchecked };
}
