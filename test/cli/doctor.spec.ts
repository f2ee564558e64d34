import { chmod, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

interface Check {
  readonly name: string;
  readonly result: string;
  readonly found: string;
  readonly advice: string | null;
}

describe('svc doctor', () => {
  it('finds nothing failed in a node that runs; finds each thing that is broken, and the node down', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    const doctor = async (): Promise<{ code: number; checks: readonly Check[] }> => {
      const { code, stdout } = await svc(node.paths, 'doctor', '--json');
      return { code, checks: (JSON.parse(stdout) as { checks: readonly Check[] }).checks };
    };
    const failed = (checks: readonly Check[]): readonly string[] =>
      checks.filter(({ result }) => result === 'fail').map(({ name }) => name);

    const well = await doctor();
    expect(failed(well.checks), JSON.stringify(well.checks)).to.deep.equal([]);
    expect(well.code).to.equal(0);
    expect(well.checks.map(({ name }) => name)).to.include.members([
      'node',
      'process svc-link',
      'flight controller',
      'disk',
      'clock',
    ]);

    await chmod(node.paths.pairing, 0o644);
    await writeFile(node.paths.dashboardPin, '{', { mode: 0o600 });
    await writeFile(node.paths.config, 'api:\n  port: eighty\n');
    const ill = await doctor();
    expect(failed(ill.checks)).to.have.members(['pairing file', 'PIN file', 'config']);
    expect(ill.code).to.equal(1);
    for (const { result, advice } of ill.checks) if (result === 'fail') expect(advice).to.be.a('string');

    await node.stop({ keep: true });
    const down = await doctor();
    expect(failed(down.checks)).to.include('node');
    expect(JSON.stringify(down.checks)).to.not.include(KEY);
    await node.remove();
  });
});
