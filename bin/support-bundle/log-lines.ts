import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chunksOf } from '../../shared/async/chunks.ts';
import { runProgram } from '../../shared/process/run-program.ts';

const JOURNAL_MS = 20_000;

/**
 * The node's own log of the last day where no node can be asked for it: its files, newest last; where it has none, it
 * logs to the journal.
 * @throws ApiError where there is neither
 */
export async function* logFromDisk(directory: string, maxBytes: number): AsyncGenerator<Buffer> {
  const names = (await readdir(directory).catch(() => [])).filter((name) => /^svc\d*\.log$/.test(name)); // no folder: none
  if (names.length === 0) {
    const args = ['--unit', 'svc', '--since', '-24h', '--no-pager', '--output', 'cat'];
    yield Buffer.from(await runProgram('journalctl', args, JOURNAL_MS, { maxBytes }));
    return;
  }
  // svc.log is the newest, svc1.log the one before.
  for (const name of names.toSorted().toReversed()) {
    yield* chunksOf(createReadStream(join(directory, name)));
  }
}
