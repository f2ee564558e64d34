import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execute, settings } from '@oclif/core';
import packageJson from '../../package.json' with { type: 'json' };
import { messageOf } from '../../shared/errors.ts';
import { CODE_ROOT, EXTENSION } from '../places.ts';
import { LEADING_FLAGS } from './completion-script.ts';
import { EXIT } from './exit-codes.ts';

/** Runs the `svc` command line, as the `oclif` section of package.json describes it. */
export async function main(): Promise<void> {
  settings.enableAutoTranspile = false; // node itself runs the TypeScript
  // The reader of the output has exited (`svc logs tail | head`): oclif would write forever.
  // Before oclif's own, which shows where in its code a full disk was met.
  process.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`svc: the output cannot be written: ${messageOf(error)}\n`);
    process.exit(EXIT.refused);
  });
  const args = wordsFirst(process.argv.slice(2));
  const first = args[0] === 'help' ? args[1] : args[0];
  await execute({ dir: CODE_ROOT, args, ...onlyOf(first) });
}

/** oclif wants its command first: `svc --demo ground status` becomes `svc status --demo ground`. */
function wordsFirst(args: readonly string[]): string[] {
  let words = 0;
  for (;;) {
    const [name = '', value] = (args[words] ?? '').split('=', 2);
    if (!LEADING_FLAGS.includes(name)) break;
    words += value === undefined ? 2 : 1;
  }
  const end = args.indexOf('--', words);
  const till = end === -1 ? args.length : end;
  return [...args.slice(words, till), ...args.slice(0, words), ...args.slice(till)];
}

/**
 * For a command that is named first, or after `help`, oclif loads the file of that word instead of all of them, which takes twice as
 * long.
 */
function onlyOf(first: string | undefined): Pick<Parameters<typeof execute>[0], 'loadOptions'> {
  // Completion needs all commands where no manifest describes them: in a checkout.
  if (first === undefined || (first === 'completion' && EXTENSION === '.ts')) return {};
  const target = `./bin/commands/${first}`;
  if (!/^[a-z][a-z-]*$/.test(first) || !existsSync(join(CODE_ROOT, `${target}${EXTENSION}`))) return {};
  const { oclif } = packageJson;
  const commands = { strategy: 'explicit' as const, target };
  const pjson = { ...packageJson, oclif: { ...oclif, topicSeparator: ' ' as const, commands } };
  return { loadOptions: { root: CODE_ROOT, pjson } };
}
