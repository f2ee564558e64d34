import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const JOURNAL_MS = 20_000;

/**
 * The node's log of the last day, if no node answers: from its files, newest last, or else from the journal. @throws the
 * system's error if there is neither
 */
export async function* logFromDisk(directory: string, maxBytes: number): AsyncGenerator<Buffer> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => /^svc\d*\.log$/.test(name)); // no folder: none
  if (names.length === 0) {
    const { stdout } = await run(
      'journalctl',
      ['--unit', 'svc', '--since', '-24h', '--no-pager', '--output', 'cat'],
      { timeout: JOURNAL_MS, maxBuffer: maxBytes, encoding: 'buffer' },
    );
    yield stdout;
    return;
  }
  // svc.log is the newest, svc1.log the one before.
  for (const name of names.toSorted().toReversed()) {
    for await (const chunk of createReadStream(join(directory, name))) yield chunk as Buffer;
  }
}
