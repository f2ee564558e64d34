/** `npm run matrix`: who gets what on which route, as decide() answers, in a file that a person can read. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { matrixText } from './matrix-text.ts';
import { ROOT } from './node.ts';

const file = join(ROOT, 'matrix.tsv');
const text = matrixText();
writeFileSync(file, text);
process.stdout.write(`${file}: ${text.trimEnd().split('\n').length - 1} rows\n`);
