import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { gone, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

const headers = { 'x-svc-key': KEY };

/** Asks again and again until told to stop; every answer's status, or `cut` where the connection broke. */
function poll(node: TestNode, path: string): { stop(): Promise<readonly (number | 'cut')[]> } {
  const seen: (number | 'cut')[] = [];
  const stopped = new AbortController();
  const work = (async () => {
    while (!stopped.signal.aborted) {
      try {
        const response = await node.fetch(path, { headers, signal: AbortSignal.timeout(5000) });
        await response.text();
        seen.push(response.status);
      } catch (error) {
        if ((error as Error).name === 'TimeoutError') throw error; // a hang is the one thing that must not happen
        seen.push('cut');
      }
    }
    return seen;
  })();
  return {
    async stop() {
      stopped.abort();
      return work;
    },
  };
}

describe('each process is killed while a client asks', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
  });
  after(async () => node.stop());

  const cases: readonly [string, string, readonly (number | 'cut')[]][] = [
    ['svc-residual', '/api/config', [200, 502, 503]],
    ['svc-residual', '/api/status', [200]],
    ['svc-link', '/api/status', [200]],
    ['svc-link', '/api/telemetry', [200, 503]],
    ['svc-link', '/api/params', [200, 502, 503]],
    ['svc-sim', '/api/telemetry', [200]],
    ['svc-control', '/api/status', [200, 'cut']],
  ];
  for (const [name, path, wanted] of cases) {
    it(`H1 kill -9 ${name} during GET ${path}: ${wanted.join(', ')}, never a hang, and it comes back`, async () => {
      const client = poll(node, path);
      const pid = node.pid(name);
      await node.killAndAwaitSuccessor(name);
      expect(node.pid(name)).to.not.equal(pid);
      const answers = await client.stop();
      for (const answer of answers) expect(wanted).to.include(answer);
      expect(node.service(name).last_exit).to.equal('SIGKILL');
      await telemetry(node, ({ mavlink_alive: alive }) => alive === true, headers);
      expect((await node.fetch(path, { headers })).status).to.equal(200);
    });
  }

  it('restarting the front does not touch the other processes', async () => {
    const before = ['svc-link', 'svc-residual', 'svc-sim'].map((name) => node.pid(name));
    await node.killAndAwaitSuccessor('svc-control');
    expect(['svc-link', 'svc-residual', 'svc-sim'].map((name) => node.pid(name))).to.deep.equal(before);
  });
});

describe('the supervisor dies', () => {
  it('H13 kill -9: no child outlives it', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    const pids = node.services.map(({ pid }) => pid).filter((pid): pid is number => pid !== null);
    expect(pids).to.have.length(5);
    node.supervisor.kill('SIGKILL');
    const from = performance.now();
    await Promise.all(pids.map(gone));
    expect(performance.now() - from).to.be.lessThan(20_000);
    await node.stop();
  });
});
