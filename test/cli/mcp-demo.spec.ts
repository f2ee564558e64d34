import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { armable } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

interface Server {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

describe('svc mcp demo', function () {
  this.timeout(120_000);
  let node: TestNode;
  let home: string;
  before(async () => {
    home = await tempDir();
    node = await TestNode.start({ pairing: { key: KEY } });
  });
  after(async () => {
    await node.stop();
    await removeDir(home);
  });

  it('prints a line for each client, and the one for a desktop flies the simulated vehicle', async function () {
    if (process.getuid?.() !== 0) this.skip(); // tokens are let in by root
    const { code, stdout, stderr } = await svc(node.paths, 'mcp', 'demo');
    expect(code, stderr).to.equal(0);
    for (const client of ['claude mcp add drone', 'code --add-mcp', 'codex mcp add drone'])
      expect(stdout).to.include(client);
    const line = stdout.split('\n').find((each) => each.startsWith('{"mcpServers"')) ?? '';
    const { mcpServers } = JSON.parse(line) as { readonly mcpServers: { readonly drone: Server } };
    const { command, args, env } = mcpServers.drone;
    await armable(node, { 'x-svc-key': KEY });
    const client = new Client({ name: 'newcomer', version: '1.0.0' });
    const { PATH = '' } = process.env;
    await client.connect(
      new StdioClientTransport({
        command,
        args: [...args],
        env: { PATH, HOME: home, ...env },
        stderr: 'ignore',
      }),
    );
    const flown = await client.callTool({ name: 'flight_takeoff', arguments: { altitude_m: 5, arm: true } });
    expect(flown.structuredContent, JSON.stringify(flown)).to.include({ ok: true, done: true });
    await client.close();
  });

  it('a vehicle that is none of ours is refused, and tokens stay out', async () => {
    const real = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    try {
      const { code, stderr } = await svc(real.paths, 'mcp', 'demo');
      expect([code, stderr]).to.satisfy(
        ([ended, said]: [number, string]) => ended === 1 && said.includes('is not a simulator'),
      );
      expect((await svc(real.paths, 'mcp', 'status')).stdout).to.include('disabled');
    } finally {
      await real.stop();
    }
  });
});
