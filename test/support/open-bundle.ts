import { openBundle } from '../../shared/update/bundle.ts';
import { parsePublicKey } from '../../shared/update/minisign.ts';

/** Opens the bundle of its first argument, which none of the keys (texts) after it opens, and says how many KiB that has cost at the most. */
const [file = '', ...keys] = process.argv.slice(2);
const refused = await openBundle(file, keys.map(parsePublicKey)).then(
  () => false,
  () => true,
);
if (!refused) throw new Error('it was opened');
console.log(JSON.stringify({ kib: process.resourceUsage().maxRSS }));
