import { loadConfig } from '../../shared/config.ts';
import type { Paths } from '../../shared/paths.ts';
import type { Check } from './check.ts';
import { checkFiles } from './files.ts';
import { checkMachine } from './machine.ts';
import { checkNode } from './node.ts';

/** Everything that `svc doctor` looks at, in the order in which it is read. */
export async function examine(
  paths: Paths,
  api: (method: string, path: string) => Promise<unknown>,
): Promise<readonly Check[]> {
  const { config } = await loadConfig(paths);
  const [machine, files, node] = await Promise.all([
    checkMachine(),
    checkFiles(paths),
    checkNode(api, config.api.port),
  ]);
  return [...machine, ...files, ...node];
}
