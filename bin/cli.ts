import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execute, settings } from '@oclif/core';
import packageJson from '../package.json' with { type: 'json' };
import { CODE_ROOT, EXTENSION } from './places.ts';

/** Runs the `svc` command line, as the `oclif` section of package.json describes it. */
export async function main(): Promise<void> {
  settings.enableAutoTranspile = false; // node itself runs the TypeScript
  // The reader of the output has exited (`svc logs tail | head`): oclif would write forever.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
  });
  await execute({ dir: CODE_ROOT, ...(EXTENSION === '.ts' && withoutManifest(process.argv[2])) });
}

/**
 * A checkout has no manifest, and oclif would load every command before it runs one, which takes twice as long: for a command
 * that is named first, only its own file (or those of its topic) are loaded.
 */
function withoutManifest(first: string | undefined): Pick<Parameters<typeof execute>[0], 'loadOptions'> {
  const pattern = patternFor(first);
  if (pattern === null) return {};
  const { oclif } = packageJson;
  const commands = { strategy: 'pattern' as const, target: oclif.commands, globPatterns: [pattern] };
  const pjson = { ...packageJson, oclif: { ...oclif, topicSeparator: ' ' as const, commands } };
  return { loadOptions: { root: CODE_ROOT, pjson } };
}

function patternFor(first: string | undefined): string | null {
  // Completion needs all commands.
  if (first === undefined || first === 'completion' || !/^[a-z][a-z-]*$/.test(first)) return null;
  const path = join(import.meta.dirname, 'commands', first);
  if (existsSync(`${path}.ts`)) return `${first}.ts`;
  return existsSync(path) ? `${first}/**/*.ts` : null;
}
