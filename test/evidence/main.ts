/** `npm run evidence`: takes over what was measured, and makes `docs/evidence` of it (see its index.md). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/node.ts';
import { collect } from './collect.ts';
import { readEvidence } from './data.ts';
import { pagesOf } from './pages.ts';
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
const pages = pagesOf(readEvidence(data), sourcesOf());
for (const [name, text] of pages) writeFileSync(join(folder, name), text);
process.stdout.write(`${folder}: ${[...pages.keys()].join(', ')}; taken over: ${parts.join(', ')}\n`);
