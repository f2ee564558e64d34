import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execute, settings } from '@oclif/core';
import packageJson from '../package.json' with { type: 'json' };
import { messageOf } from '../shared/errors.ts';
import { LEADING_FLAGS } from './completion-script.ts';
import { EXIT } from './exit-codes.ts';
import { CODE_ROOT, EXTENSION } from './places.ts';

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
  await execute({ dir: CODE_ROOT, args, ...(EXTENSION === '.ts' && withoutManifest(first)) });
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
 * A checkout has no manifest, and oclif would load every command before it runs one, which takes twice as long: for a command
 * that is named first, or after `help`, only its own file (or those of its topic) are loaded.
 */
function withoutManifest(first: string | undefined): Pick<Parameters<typeof execute>[0], 'loadOptions'> {
  const globPatterns = patternsFor(first);
  if (globPatterns.length === 0) return {};
  const { oclif } = packageJson;
  const commands = { strategy: 'pattern' as const, target: oclif.commands, globPatterns };
  const pjson = { ...packageJson, oclif: { ...oclif, topicSeparator: ' ' as const, commands } };
  return { loadOptions: { root: CODE_ROOT, pjson } };
}

function patternsFor(first: string | undefined): string[] {
  // Completion needs all commands.
  if (first === undefined || first === 'completion' || !/^[a-z][a-z-]*$/.test(first)) return [];
  const path = join(import.meta.dirname, 'commands', first);
  return [
    ...(existsSync(`${path}.ts`) ? [`${first}.ts`] : []),
    ...(existsSync(path) ? [`${first}/**/*.ts`] : []),
  ];
}
