import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Paths, pathsFrom } from '../shared/paths.ts';

/** The paths of the code and the node's files, for the programs in `bin/`. */

/** `dist` in a compiled node, else the checkout. */
export const CODE_ROOT = dirname(import.meta.dirname);
export const EXTENSION = import.meta.filename.endsWith('.ts') ? '.ts' : '.js';
/** The folder with package.json and node_modules. */
export const PACKAGE_ROOT = EXTENSION === '.ts' ? CODE_ROOT : dirname(CODE_ROOT);

/** The three directories of the demo node that `npm start` runs; `name` keeps several apart. */
export function demoDirectories(name: string | null): Readonly<Record<string, string>> {
  const base = join(PACKAGE_ROOT, '.svc', ...(name === null ? [] : [name]));
  return {
    SVC_ETC_DIR: join(base, 'etc'),
    SVC_RUN_DIR: join(base, 'run'),
    SVC_STATE_DIR: join(base, 'state'),
  };
}

/**
 * The files of the node for a command on this machine: those in the environment variables; else, in a checkout in which `npm
 * start` has run, those of the demo node; else the system's.
 */
export function nodePaths(env: Readonly<Record<string, string | undefined>>): Paths {
  const named = ['SVC_ETC_DIR', 'SVC_RUN_DIR', 'SVC_STATE_DIR'].some((name) => env[name] !== undefined);
  if (!named && existsSync(join(PACKAGE_ROOT, '.svc', 'etc'))) return pathsFrom(demoDirectories(null));
  return pathsFrom(env);
}
