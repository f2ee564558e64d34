import { readFile } from 'node:fs/promises';
import { codeOf } from '../../../shared/errors.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';

/** Whether the uplink in use is metered, as svc-control wrote it; null: nobody knows. @throws the file system's own error, SyntaxError */
export async function meteredIn(file: string): Promise<boolean | null> {
  try {
    const metered = memberOf(parseJson(await readFile(file, 'utf8')), 'metered');
    return typeof metered === 'boolean' ? metered : null;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null; // no uplink has been used yet
    throw error;
  }
}
