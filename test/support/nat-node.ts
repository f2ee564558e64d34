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

/** The ways to a TURN server, as an entry of `video.ice.servers`. */
function entry(address: string): string {
  const urls = [`turn:${address}:3478`, `turn:${address}:443?transport=tcp`, `turns:${address}:443`];
  return `{urls: [${urls.map((url) => `'${url}'`).join(', ')}], secret: '${TURN_SECRET}'}`;
}

/** A paired node in its place in that world, with a test camera that gives pictures. @param servers where TURN servers may be */
export async function startNatNode(
  world: NatWorld,
  port: number,
  servers: readonly string[],
): Promise<TestNode> {
  const node = await TestNode.start({
    port,
    pairing: { key: KEY },
    simulated: false,
    config: `video:\n  source: test\n  radio: ''\n  ice:\n    servers: [${servers.map(entry).join(', ')}]\n`,
    prefix: world.on('node'),
  });
  await askAgain(
    'the camera gives pictures',
    async () => askInside(node, '/api/video'),
    ({ state, fps }) => state === 'running' && fps !== null,
  );
  return node;
}
