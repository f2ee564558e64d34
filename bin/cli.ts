import { flush, handle, run, settings } from '@oclif/core';
import packageJson from '../package.json' with { type: 'json' };
import { EXTENSION, PACKAGE_ROOT } from './places.ts';

/** Runs the `svc` command line: one file a command below `commands/`, its path the words. */
export async function main(): Promise<void> {
  settings.enableAutoTranspile = false; // node itself runs the TypeScript
  const target = EXTENSION === '.ts' ? './bin/commands' : './dist/bin/commands';
  const pjson = {
    ...packageJson,
    oclif: {
      bin: 'svc',
      dirname: 'svc',
      topicSeparator: ' ' as const,
      commands: { strategy: 'pattern' as const, target, globPatterns: ['**/*.{ts,js}'] },
    },
  };
  try {
    await run(process.argv.slice(2), { root: PACKAGE_ROOT, pjson });
    await flush();
  } catch (error) {
    await handle(error instanceof Error ? error : new Error(String(error)));
  }
}
