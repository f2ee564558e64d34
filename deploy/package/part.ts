import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { closure, listPackages, type Package } from './package-list.ts';
import { reachedFrom } from './reached.ts';
import { copy } from './stage.ts';

/**
 * Copies the part of the built code that a program needs, `dist` and `node_modules`, into a folder.
 * @param entries where the program and its threads start, `bin/hub/main`
 * @param more packages that nothing imports
 * @returns the packages that it has
 */
export async function copyPart(
  dist: string,
  modules: string,
  entries: readonly string[],
  more: readonly string[],
  folder: string,
): Promise<Package[]> {
  const reached = await reachedFrom(
    dist,
    entries.map((entry) => `${entry}.js`),
  );
  for (const file of reached.files) {
    await mkdir(dirname(join(folder, 'dist', file)), { recursive: true });
    await copy(join(dist, file), join(folder, 'dist', file));
  }
  const packages = closure(await listPackages(modules), [...reached.packages, ...more]);
  const inner = packages.filter(({ path }) => !path.includes('/node_modules/'));
  for (const { path, folder: from } of inner) {
    await mkdir(dirname(join(folder, 'node_modules', path)), { recursive: true });
    await copy(from, join(folder, 'node_modules', path));
  }
  // With whatever lies inside of the copied ones.
  return listPackages(join(folder, 'node_modules'));
}
