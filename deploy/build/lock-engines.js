/**
 * Takes out of package-lock.json which Node its optional packages want: npm leaves them out in silence where an older one runs it,
 * although they run on the Node that npm brings.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(file, 'utf8'));
for (const entry of Object.values(lock.packages))
  if (entry.optional || entry.devOptional) delete entry.engines;
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
