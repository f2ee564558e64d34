import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/**
 * The program of a process of ours: of `npm run build` where `.ci/run` says that it is fresh, which is what users have, and takes a
 * third of the time to start.
 * @param entry as in `bin/sim/main`
 */
export function programOf(entry: string): string {
  return join(ROOT, process.env['SVC_TEST_BUILT'] === '1' ? `dist/${entry}.js` : `${entry}.ts`);
}
