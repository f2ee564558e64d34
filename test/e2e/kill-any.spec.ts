import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { type Found, processesOf } from '../support/run-processes.ts';
import { seeded } from '../support/seeded.ts';
import { svc } from '../support/svc.ts';

const KILLING_MS = 25_000;
/** So often it is the supervisor, which a choice among six would seldom hit. */
const SUPERVISOR_EVERY = 8;
/** A parked process is tried again after 30 s, and has 20 s to become ready. */
const RECOVERY_MS = 55_000;
const SEED = 20_261_121;

/** @returns false where it had just ended by itself */
function kill({ pid }: Found): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

describe('kill -9 of anything at any time', function () {
  this.timeout(150_000);

  it('H13 the node comes back whole: one of each process, no orphan, config and audit as they were', async () => {
    const random = seeded(SEED);
    const config = "video:\n  source: test\n  radio: ''\n";
    let node = await TestNode.start({ pairing: { key: KEY }, config });
    const { paths, port } = node;
    const entries = (): readonly string[] => processesOf(paths.run).map(({ entry }) => entry);
    const expected = entries();
    expect(expected).to.have.length(6);
    const supervisor = expected.find((entry) => entry.includes('supervisor')) ?? '';
    const killed = new Map<string, number>();
    const put = async (value: string): Promise<Response> =>
      node.fetch('/api/config', {
        method: 'PUT',
        headers: { 'x-svc-key': KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ key: 'agent.name', value }),
        signal: AbortSignal.timeout(10_000),
      });
    // Where no write comes through between the kills, this one must still be there.
    expect((await put('round-0')).status).to.equal(200);
    let accepted = 0;
    const end = performance.now() + KILLING_MS;
    for (let round = 0; performance.now() < end; round++) {
      const alive = processesOf(paths.run);
      const victim =
        round % SUPERVISOR_EVERY === SUPERVISOR_EVERY - 1
          ? alive.find(({ pid }) => pid === node.supervisor.pid)
          : alive[Math.floor(random() * alive.length)];
      // A write is on its way while the process dies.
      const write = put(`round-${round}`)
        .then(async (answer) => {
          await answer.text();
          if (answer.ok) accepted = round;
        })
        .catch((error: unknown) => {
          if ((error as Error).name === 'TimeoutError') throw error; // cut off is fine, to hang is not
        });
      if (victim !== undefined && kill(victim)) killed.set(victim.entry, (killed.get(victim.entry) ?? 0) + 1);
      await write;
      if (victim?.pid === node.supervisor.pid) {
        await node.gone();
        node = await TestNode.resume(node, { config }); // as systemd does
      }
      await delay(random() * 800); // as long as it likes, not until something happens: that is the test
    }
    expect(killed, 'the supervisor was among them').to.include.keys(supervisor);
    expect(killed.size, [...killed].join(' ')).to.be.at.least(4);

    const since = performance.now();
    await node.until((services) => services.length > 1 && services.every(({ state }) => state === 'running'));
    expect(performance.now() - since).to.be.below(RECOVERY_MS);
    expect(entries()).to.deep.equal(expected);
    const tree = new Set(node.services.map(({ pid }) => pid));
    for (const { pid, entry } of processesOf(paths.run)) expect(tree.has(pid), entry).to.equal(true);
    const { status, body } = await node.json('/api/config', { headers: { 'x-svc-key': KEY } });
    expect(status).to.equal(200);
    expect((body['api'] as { port: number }).port).to.equal(port);
    // A write that was answered with success is never lost; a later one may have happened although its answer was cut off.
    const { name } = body['agent'] as { name: string };
    expect(Number(/^round-(\d+)$/.exec(name)?.[1])).to.be.at.least(accepted);
    const verified = await svc(paths, 'audit', 'verify');
    expect(verified.code, verified.stdout + verified.stderr).to.equal(0);
    await node.stop();
    expect(entries()).to.deep.equal([]);
  });
});
