import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUILT = process.env['SVC_TEST_BUILT'] === '1';

/**
 * The program of a process of ours: of `npm run build` where `.ci/run` says that it is fresh, which is what users have, and takes a
 * third of the time to start.
 * @param entry as in `bin/sim/main`
 */
export function programOf(entry: string): string {
  return join(ROOT, BUILT ? `dist/${entry}.js` : `${entry}.ts`);
}

/** As bin/svc-hub.js starts it, which tests of the command itself use. */
export const HUB_PROGRAM: readonly string[] = BUILT
  ? ['--max-semi-space-size=4', '--disable-warning=ExperimentalWarning', programOf('bin/hub/main')]
  : [join(ROOT, 'bin/svc-hub.js')];

/** As bin/svc-mcp.js starts it. */
export const CONNECTOR_PROGRAM = BUILT ? programOf('connector/main') : join(ROOT, 'bin/svc-mcp.js');
