import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Paths, pathsFrom } from '../shared/paths.ts';

/** The paths of the code and the node's files, for the programs in `bin/`. */

/** `dist` in a compiled node, else the checkout. */
export const CODE_ROOT = dirname(import.meta.dirname);
export const EXTENSION = import.meta.filename.endsWith('.ts') ? '.ts' : '.js';
/** The folder with package.json and node_modules. */
export const PACKAGE_ROOT = EXTENSION === '.ts' ? CODE_ROOT : dirname(CODE_ROOT);

/** The name of the demo node of `npm run start:ground`. */
export const GROUND = 'ground';

/** The folder of the demo node that `npm start` runs; `name` is that of another one. */
export function demoFolder(name: string | null): string {
  return join(PACKAGE_ROOT, '.svc', ...(name === null ? [] : [name]));
}

/** The three directories of a demo node. */
export function demoDirectories(name: string | null): Readonly<Record<string, string>> {
  const base = demoFolder(name);
  return {
    SVC_ETC_DIR: join(base, 'etc'),
    SVC_RUN_DIR: join(base, 'run'),
    SVC_STATE_DIR: join(base, 'state'),
  };
}

/**
 * The files of the node for a command on this machine: those of the demo node `name`; without a name, those in the environment
 * variables; else, in a checkout in which `npm start` has run, those of its node; else the system's.
 */
export function nodePaths(
  env: Readonly<Record<string, string | undefined>>,
  name: string | null = null,
): Paths {
  if (name !== null) return pathsFrom(demoDirectories(name));
  const named = ['SVC_ETC_DIR', 'SVC_RUN_DIR', 'SVC_STATE_DIR'].some(
    (variable) => env[variable] !== undefined,
  );
  return pathsFrom(!named && existsSync(join(demoFolder(null), 'etc')) ? demoDirectories(null) : env);
}
