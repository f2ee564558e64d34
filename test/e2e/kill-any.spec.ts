import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const KILLS = 24;
const SEED = 20_261_121;

/** Park–Miller: the same victims in every run. */
function seeded(seed: number): () => number {
  let state = seed % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Processes that belong to the node with that run directory, by their name. */
function processesOf(run: string): readonly string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environ = readFileSync(`/proc/${pid}/environ`, 'utf8');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (environ.includes(`SVC_RUN_DIR=${run}\0`))
        found.push(/(\S+\/main\.[jt]s)/.exec(command)?.[1] ?? command);
    } catch {
      continue; // it ended while we looked
    }
  }
  return found.toSorted();
}

describe('kill -9 of anything at any time', function () {
  this.timeout(120_000);

  it('H13 the node comes back whole: one of each process, no orphan, config and audit as they were', async () => {
    const random = seeded(SEED);
    const config = "video:\n  source: test\n  radio: ''\n";
    let node = await TestNode.start({ pairing: { key: KEY }, config });
    const { paths, port } = node;
    const expected = processesOf(paths.run);
    expect(expected).to.have.length(6);
    for (let kill = 0; kill < KILLS; kill++) {
      const alive = node.services.filter(({ pid }) => pid !== null);
      const victim = alive[Math.floor(random() * alive.length)];
      // A write is on its way while the process dies.
      const write = node
        .fetch('/api/config', {
          method: 'PUT',
          headers: { 'x-svc-key': KEY, 'content-type': 'application/json' },
          body: JSON.stringify({ key: 'agent.name', value: `round-${kill}` }),
        })
        .then(async (answer) => answer.text())
        .catch(() => 'cut off');
      if (victim?.pid != null) process.kill(victim.pid, 'SIGKILL');
      await write;
      if (victim?.name === 'svc-supervisor') {
        await node.gone();
        node = await TestNode.resume(node, { config }); // as systemd does
      }
      await new Promise((resolve) => setTimeout(resolve, random() * 800));
    }
    // Somebody asks for what was parked by so many deaths, as an operator would; the others come by themselves.
    await node.until(
      (services) =>
        services.length > 1 && services.every(({ state }) => state === 'running' || state === 'parked'),
    );
    await node.until((services) => services.every(({ state }) => state === 'running'));
    expect(processesOf(paths.run)).to.deep.equal(expected);
    const { status, body } = await node.json('/api/config', { headers: { 'x-svc-key': KEY } });
    expect(status).to.equal(200);
    expect((body['agent'] as { name: string }).name).to.match(/^(?:|round-\d+)$/);
    expect((body['api'] as { port: number }).port).to.equal(port);
    const verified = await svc(paths, 'audit', 'verify');
    expect(verified.code, verified.stdout + verified.stderr).to.equal(0);
    await node.stop();
  });
});
