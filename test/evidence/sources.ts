import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROWS } from '../../shared/routes/table.ts';
import { BENCH_NAMES } from '../bench/names.ts';
import { ROOT } from '../support/node.ts';
import { attackCases } from './attack-cases.ts';
import type { Sources } from './page.ts';

/** What the code of this clone says. */
export function sourcesOf(): Sources {
  const specs = globSync('test/**/*.spec.ts', { cwd: ROOT }).map((file) => ({
    file,
    text: readFileSync(join(ROOT, file), 'utf8'),
  }));
  return {
    cases: attackCases(readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8'), specs),
    routes: ROWS.length,
    benches: BENCH_NAMES,
  };
}
