/** `npm run radio-loss -- 30`: the loss on the radio of the nodes that `npm run start:pair` runs, percent. */

import { callNode } from '../../../bin/client/local-client.ts';
import { messageOf } from '../../../shared/errors.ts';
import { pathsFrom } from '../../../shared/paths.ts';
import { directoriesOf } from './layout.ts';
import { setLoss } from './set-loss.ts';

try {
  const [words = '', ...more] = process.argv.slice(2);
  if (more.length > 0) throw new Error('Usage: npm run radio-loss -- <percent>');
  const { controlSocket: socketPath } = pathsFrom(directoriesOf('drone'));
  await callNode({ socketPath }, 'GET /api/ping').catch((error: unknown) => {
    throw new Error('No pair is running in this checkout. Start it: npm run start:pair', { cause: error });
  });
  process.stdout.write(`${await setLoss(words)}\n`);
} catch (error) {
  process.stderr.write(`radio-loss: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
