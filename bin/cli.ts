import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { flush, handle, run, settings } from '@oclif/core';
import packageJson from '../package.json' with { type: 'json' };
import { EXIT_HELP } from './exit-codes.ts';
import { EXTENSION, PACKAGE_ROOT } from './places.ts';

/** Runs the `svc` command line: one file a command below `commands/`, its path the words. */
export async function main(): Promise<void> {
  settings.enableAutoTranspile = false; // node itself runs the TypeScript
  const target = EXTENSION === '.ts' ? './bin/commands' : './dist/bin/commands';
  const pjson = {
    ...packageJson,
    description: `${packageJson.description}\n${EXIT_HELP}`,
    oclif: {
      bin: 'svc',
      dirname: 'svc',
      topicSeparator: ' ' as const,
      commands: { strategy: 'pattern' as const, target, globPatterns: [patternFor(process.argv[2])] },
    },
  };
  // Whoever read the output has gone (`svc logs tail | head`): oclif would write on, for ever.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
  });
  try {
    await run(process.argv.slice(2), { root: PACKAGE_ROOT, pjson });
    await flush();
  } catch (error) {
    await handle(error instanceof Error ? error : new Error(String(error)));
  }
}

/**
 * oclif loads every command that it finds before it runs one; of a command that is named outright, only its own file (or
 * those of its topic) has to be found.
 */
function patternFor(first: string | undefined): string {
  const folder = join(import.meta.dirname, 'commands');
  // Completion is about all of them.
  if (first === undefined || first === 'completion' || !/^[a-z][a-z-]*$/.test(first)) return '**/*.{ts,js}';
  if (existsSync(join(folder, first + EXTENSION))) return `${first}.{ts,js}`;
  return existsSync(join(folder, first)) ? `${first}/**/*.{ts,js}` : '**/*.{ts,js}';
}
