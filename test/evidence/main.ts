/** `npm run evidence`: takes over what was measured, and makes docs/evidence/index.md of it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/node.ts';
import { collect } from './collect.ts';
import { readEvidence } from './data.ts';
import { pageOf } from './page.ts';
import { sourcesOf } from './sources.ts';

const folder = join(ROOT, 'docs/evidence');
const data = join(folder, 'data');
const parts = collect({
  root: ROOT,
  inputs: join(ROOT, 'evidence-results'),
  bench: join(ROOT, 'bench-results'),
  data,
});
mkdirSync(folder, { recursive: true });
const page = join(folder, 'index.md');
writeFileSync(page, pageOf(readEvidence(data), sourcesOf()));
process.stdout.write(`${page}; taken over: ${parts.join(', ')}\n`);
