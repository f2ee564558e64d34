import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { SimProcess } from '../sim/sim-process.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { armable } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { pythonWith } from './side-by-side.ts';

const headers = { 'x-svc-key': KEY };
const PYMAVLINK = `
import sys, json
from pymavlink import mavutil
log = mavutil.mavlink_connection(sys.argv[1])
seen, times, armed = {}, [], []
while True:
    m = log.recv_match()
    if m is None: break
    kind = m.get_type()
    name = kind + '/' + str(m.get_srcComponent())
    seen[name] = seen.get(name, 0) + 1
    times.append(m._timestamp)
    if kind == 'HEARTBEAT' and m.get_srcComponent() == 1: armed.append(bool(m.base_mode & 128))
print(json.dumps({'seen': seen, 'sorted': times == sorted(times), 'last': times[-1], 'armed': [armed[0], armed[-1]]}))
`;

interface Found {
  readonly seen: Readonly<Record<string, number>>;
  readonly sorted: boolean;
  /** s since 1970 */
  readonly last: number;
  readonly armed: readonly [boolean, boolean];
}

describe('a telemetry log, and pymavlink', function () {
  this.timeout(120_000);
  let python: string;
  let node: TestNode;
  let sim: SimProcess;

  before(async function () {
    const found = await pythonWith(['pymavlink']);
    if (found === undefined) return this.skip();
    python = found;
    sim = await SimProcess.start('--speedup', '2');
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`,
    });
    await armable(node, headers);
  });
  after(async () => {
    await node?.stop();
    await sim?.[Symbol.asyncDispose]();
  });

  const command = async (cmd: string, ...args: unknown[]): Promise<void> => {
    const wait = cmd === 'takeoff' ? { wait: true } : {};
    const { body } = await node.post('/api/command', { cmd, args, ...wait }, headers);
    expect(body, cmd).to.include({ status: 'accepted' });
  };
  const list = async () => (await node.json('/api/tlogs', { headers })).body;
  const names = async () => ((await list())['tlogs'] as { name: string }[]).map(({ name }) => name);
  const found = async (name: string): Promise<Found> => {
    const answer = await node.fetch(`/api/tlogs/${name}`, { headers });
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
      200,
      'application/octet-stream',
    ]);
    const file = join(node.base, name);
    await writeFile(file, Buffer.from(await answer.arrayBuffer()));
    return JSON.parse((await promisify(execFile)(python, ['-c', PYMAVLINK, file])).stdout) as Found;
  };

  it('of a flight is read, with both ways, while it is written; it cannot be deleted then', async () => {
    expect(await list()).to.deep.include({ tlogs: [], writing: null, problem: null });
    await command('mode', 'GUIDED');
    await command('arm');
    await command('takeoff', 5);
    const writing = await askAgain(
      'a log is written',
      async () => (await list())['writing'],
      (now) => now !== null,
    );
    const name = String(writing);
    await askAgain(
      'it has the flight',
      async () => found(name).catch(() => null),
      (read) => (read?.seen['ATTITUDE/1'] ?? 0) > 20,
    );
    const read = await found(name);
    expect(read.sorted).to.equal(true);
    expect(read.seen).to.include.keys(
      'COMMAND_LONG/191',
      'COMMAND_ACK/1',
      'HEARTBEAT/191',
      'GLOBAL_POSITION_INT/1',
    );
    expect(Math.abs(read.last - Date.now() / 1000)).to.be.below(5);
    const refused = await node.json(`/api/tlogs/${name}`, { method: 'DELETE', headers });
    expect([refused.status, refused.body['code']]).to.deep.equal([409, 'E_BUSY']);
  });

  it('of a process that is killed in flight lacks two seconds at most', async () => {
    const [name = ''] = await names();
    const killedAt = Date.now() / 1000;
    await node.killAndAwaitSuccessor('svc-link');
    expect(killedAt - (await found(name)).last).to.be.below(2);
    const next = await askAgain('another one is written', names, (all) => all.length === 2);
    expect(next[1]).to.equal(name);
  });

  it('is listed and fetched by svc', async () => {
    const [, name = ''] = await names();
    expect((await svc(node.paths, 'tlogs', 'list')).stdout).to.match(/^\S+\.tlog .* goes on$/m);
    const output = join(node.base, 'mine.tlog');
    const fetched = await svc(node.paths, 'tlogs', 'get', name, '--output', output);
    expect(fetched.stdout).to.match(/^.*mine\.tlog: \d+ bytes\n$/);
    expect((await readFile(output))[8]).to.equal(0xfd);
    expect((await svc(node.paths, 'tlogs', 'get', 'nothing.tlog', '--output', output)).code).to.equal(1);
  });

  it('is sent by range, deleted once it is over, and never anything but a log', async () => {
    const [, name = ''] = await names();
    const range = await node.fetch(`/api/tlogs/${name}`, { headers: { ...headers, range: 'bytes=8-8' } });
    expect([range.status, Buffer.from(await range.arrayBuffer()).toString('hex')]).to.deep.equal([206, 'fd']);
    for (const other of ['..%2Fconfig.yaml', 'notes.txt', '.x.tlog', 'nothing.tlog'])
      expect((await node.json(`/api/tlogs/${other}`, { headers })).status, other).to.be.oneOf([400, 404]);
    const gone = await node.json(`/api/tlogs/${name}`, { method: 'DELETE', headers });
    expect(gone.body).to.deep.equal({ name, deleted: true });
    expect(await names()).to.not.include(name);
  });
});
