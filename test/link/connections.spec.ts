import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const CONNECTED = '03';

/** The server's ends of all connections to a socket of this machine (unix(7)). */
function connectionsTo(path: string): number {
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[5] === CONNECTED && fields[7] === path).length;
}

describe('the state of the vehicle', () => {
  it('goes once to each process of the node, however many of its parts want it', async () => {
    const config = 'video:\n  source: test\n';
    const node = await TestNode.start({ pairing: { key: KEY }, config });
    try {
      const { linkSocket } = node.paths;
      const headers = { 'x-svc-key': KEY };
      // The recorder of svc-residual has heard it by then, and so have those that began with it.
      await askAgain(
        'the vehicle is recorded',
        async () => node.json('/api/observability/query?kind=metrics', { headers }),
        ({ body }) => JSON.stringify(body).includes('battery.voltage'),
      );
      expect(connectionsTo(linkSocket), 'svc-control and svc-residual').to.equal(2);
    } finally {
      await node.stop();
    }
  });
});
