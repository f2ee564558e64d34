import { createServer } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { codeOf, messageOf } from '../../shared/errors.ts';
import { callNode } from '../client/local-client.ts';
import { type Check, fail, ok } from './check.ts';

const NAME = 'API port';
const ANSWER_MS = 3000;

/** For a node that does not run: checks whether it could listen there. */
export async function portIsFree(port: number): Promise<Check> {
  const error = await new Promise<Error | null>((resolve) => {
    const probe = createServer();
    probe.once('error', resolve);
    probe.listen(port, () => probe.close(() => resolve(null)));
  });
  if (error === null) return ok(NAME, `${port} is free.`);
  return codeOf(error) === 'EACCES'
    ? fail(
        NAME,
        `You may not listen on ${port}.`,
        'Set api.port to 1024 or above, or run the node by its unit.',
      )
    : fail(
        NAME,
        `Another program listens on ${port}: ${messageOf(error)}.`,
        `Find it with \`sudo ss -ltnp sport = :${port}\` and stop it, or set api.port.`,
      );
}

/**
 * For a running node: checks whether it answers there. @param identity its answer over its socket to `GET /api/pairing/info`, a
 * public route
 */
export async function portIsOurs(port: number, identity: unknown): Promise<Check> {
  let problem: string;
  try {
    const address = { host: '127.0.0.1', port, key: null };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const there = await callNode(address, 'GET /api/pairing/info', { signal });
    if (isDeepStrictEqual(nodeOf(there), nodeOf(identity))) return ok(NAME, `The node answers on ${port}.`);
    problem = 'another program answers.';
  } catch (error) {
    problem = messageOf(error);
  }
  return fail(
    NAME,
    `${port}: ${problem}`,
    `If api.port was changed: svc services restart svc-control. Else find who listens: \`sudo ss -ltnp sport = :${port}\`.`,
  );
}

/** The answer without `entry`, which is of the caller and not of the node. */
function nodeOf(info: unknown): unknown {
  return typeof info === 'object' && info !== null ? { ...info, entry: null } : info;
}
