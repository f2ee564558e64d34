import { request } from 'node:http';
import { askAgain } from './ask-again.ts';
import { KEY } from './edge.ts';
import { type NatWorld, TURN_SECRET } from './nat-world.ts';
import { TestNode } from './node.ts';

/** Asks the node on its own machine: no other way leads to it from here. */
export async function askInside(node: TestNode, path: string): Promise<Readonly<Record<string, unknown>>> {
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  const options = { socketPath: node.paths.controlSocket, path, headers: { host: 'localhost' } };
  const asked = request(options, (answer) => {
    let text = '';
    answer.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    answer.once('end', () => resolve(JSON.parse(text)));
  });
  asked.once('error', reject);
  asked.end();
  return promise;
}

/** All ways to a TURN server. */
const waysTo = (address: string): readonly string[] => [
  `turn:${address}:3478`,
  `turn:${address}:443?transport=tcp`,
  `turns:${address}:443`,
];

interface NatNodeOptions {
  /** Those that are told of a server. */
  readonly ways?: (address: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A paired node in its place in that world, with a test camera that gives pictures. @param servers where TURN servers may be */
export async function startNatNode(
  world: NatWorld,
  port: number,
  servers: readonly string[],
  { ways = waysTo, env = {} }: NatNodeOptions = {},
): Promise<TestNode> {
  const entries = servers.map(
    (address) =>
      `{urls: [${ways(address)
        .map((url) => `'${url}'`)
        .join(', ')}], secret: '${TURN_SECRET}'}`,
  );
  const node = await TestNode.start({
    port,
    pairing: { key: KEY },
    simulated: false,
    config: `video:\n  source: test\n  radio: ''\n  ice:\n    servers: [${entries.join(', ')}]\n`,
    prefix: world.on('node'),
    env,
  });
  await askAgain(
    'the camera gives pictures',
    async () => askInside(node, '/api/video'),
    ({ state, fps }) => state === 'running' && fps !== null,
  );
  return node;
}
