import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { residentMiB } from '../../shared/process/memory.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { seeded } from '../support/seeded.ts';

const REQUESTS = 1000;
const CLIENTS = 8;
/** One less than what parks the process. */
const KILLS = 4;
const SEED = 20_261_121;
const TIMEOUT_MS = 5000;
/** A leak of one socket, buffer or promise a request would be several times this. */
const MAX_GROWTH_MIB = 8;

/** Resident memory of a process, MiB. */
function residentMib(pid: number): number {
  const resident = residentMiB(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (resident === null) throw new Error(`no process ${pid}`);
  return resident;
}

function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** What GET /api/config answered: the whole config, or one of the two statuses that say that the residual is away. */
async function ask(node: TestNode): Promise<number> {
  const response = await node.fetch('/api/config', {
    headers: { 'x-svc-key': KEY },
    signal: AbortSignal.timeout(TIMEOUT_MS), // a hang fails the test by its TimeoutError
  });
  const body = (await response.json()) as Record<string, unknown>; // half an answer fails it too
  if (response.status === 200) expect(body).to.have.nested.property('api.port', node.port);
  else {
    expect(response.status).to.be.oneOf([502, 503]);
    expect(body['code']).to.be.oneOf(['E_UPSTREAM', 'E_UPSTREAM_DOWN']);
  }
  return response.status;
}

/** `count` requests by several clients at once; whoever hears that the residual is away waits for its successor. */
async function load(
  node: TestNode,
  count: number,
  beforeRequest: (index: number) => void,
): Promise<readonly number[]> {
  const answers: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      beforeRequest(next++);
      const status = await ask(node);
      answers.push(status);
      if (status !== 200) await node.until(() => node.service('svc-residual').state === 'running');
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return answers;
}

describe('svc-residual is killed at random under load', function () {
  this.timeout(120_000);
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
  });
  after(async () => node.stop());

  it(`H1 ${KILLS} kills in ${REQUESTS} requests: 502, 503 or the whole answer, none hangs, the front does not grow`, async () => {
    const random = seeded(SEED);
    // One kill in each part of the run; the load goes on meanwhile.
    const part = REQUESTS / KILLS;
    const moments = new Set(Array.from({ length: KILLS }, (_, n) => Math.floor((n + random()) * part)));
    const front = node.pid('svc-control');
    const killed = new Set<number>();
    const kill = (index: number): void => {
      const { pid } = node.service('svc-residual');
      if (!moments.has(index) || pid === null || killed.has(pid)) return;
      killed.add(pid);
      process.kill(pid, 'SIGKILL');
    };
    await load(node, REQUESTS, () => undefined); // warm: compiled, its pools filled
    const before = { mib: residentMib(front), files: openFiles(front) };
    const answers = await load(node, REQUESTS, kill);
    expect(answers).to.have.length(REQUESTS);
    expect(killed.size).to.equal(KILLS);
    expect(answers.filter((status) => status !== 200)).to.have.length.within(1, REQUESTS / 2);
    await node.until(() => {
      const { state, restarts } = node.service('svc-residual');
      return state === 'running' && restarts === KILLS;
    });
    expect(node.service('svc-residual').last_exit).to.equal('SIGKILL');
    expect(node.pid('svc-control'), 'the front is the same process').to.equal(front);
    expect(residentMib(front) - before.mib).to.be.below(MAX_GROWTH_MIB);
    // A connection each to the client and to the residual may be open now and not then.
    expect(openFiles(front) - before.files).to.be.at.most(2 * CLIENTS);
  });
});
