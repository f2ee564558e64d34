import { EngineClient } from '../../residual/app/video/engine-client.ts';
import type { AccessUnit } from '../../residual/video/engine/picture.ts';
import { KEY } from './edge.ts';
import { type NodeOptions, TestNode } from './node.ts';

/** What a node with a test camera begins with. */
export const TEST_CAMERA = "video:\n  source: test\n  radio: ''\n";

export const KEYED = { 'x-svc-key': KEY } as const;

/** A paired node whose test camera gives pictures. */
export async function startVideoNode(options: NodeOptions = {}): Promise<TestNode> {
  const node = await TestNode.start({
    pairing: { key: KEY },
    simulated: false,
    config: TEST_CAMERA,
    ...options,
  });
  await pictures(node);
  return node;
}

/** Resolves once the pipeline runs and its encoder has worked, read over HTTP. */
export async function pictures(node: TestNode): Promise<void> {
  for (;;) {
    const { body } = await node.json('/api/video', { headers: KEYED });
    if (body['state'] === 'running' && body['fps'] !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Reads the encoded stream until `enough`. */
export async function unitsOf(
  node: TestNode,
  enough: (units: readonly AccessUnit[]) => boolean,
): Promise<readonly AccessUnit[]> {
  const units: AccessUnit[] = [];
  return new Promise((resolve) => {
    const client = new EngineClient({
      controlSocket: node.paths.videoSocket,
      mediaSocket: node.paths.videoMediaSocket,
      onStatus: () => undefined,
      onUnit: (unit) => {
        units.push({ ...unit, data: Buffer.from(unit.data) });
        if (!enough(units)) return;
        client.stop();
        resolve(units);
      },
    });
    client.start();
    client.watch(true);
  });
}
