import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { simulatedLogByte } from '../../bin/sim/mavlink/log-link.ts';
import { askAgain } from '../support/ask-again.ts';
import { armable, linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const SIZE = 50_000;

describe('svc flights, svc flightlogs, svc params explain and changed', () => {
  let node: TestNode;
  let dir: string;

  before(async () => {
    dir = await tempDir();
    node = await TestNode.start();
    await linkState(node, ({ params }) => params.cached > 0 && !params.priming);
  });

  after(async () => {
    await node.stop();
    await removeDir(dir);
  });

  it('get of a log that is shorter than listed keeps what came, and says so', async () => {
    const output = join(dir, 'short.bin');
    expect((await svc(node.paths, 'flightlogs', 'get', '1', '--output', output)).code).to.equal(0);
    const [name = ''] = await readdir(node.paths.flightLogs);
    // As svc-link keeps one that has come to its end.
    const short = name.replace('_1_', '_2_').replace(/_\d+\.log$/, '_1760001200.log');
    await writeFile(join(node.paths.flightLogs, short), Buffer.alloc(5000, 7));
    const listed = await svc(node.paths, 'flightlogs', 'list');
    expect(listed.stdout).to.match(/^ 2 .* 50000 +whole; the vehicle has 5000 bytes of it$/m);
    const got = await svc(node.paths, 'flightlogs', 'get', '2', '--output', output);
    expect([got.code, got.stdout], got.stderr).to.deep.equal([0, `${output}: 5000 bytes\n`]);
    expect(got.stderr).to.include('The vehicle has listed 50000 bytes of this log');
    await removeDir(node.paths.flightLogs);
  });

  it('list, get and erase: a part from before is gone on with, and erase wants a yes', async () => {
    const listed = await svc(node.paths, 'flightlogs', 'list');
    expect(listed.code).to.equal(0);
    expect(listed.stdout).to.match(
      /^ID +TIME +BYTES +ON THIS NODE\n 1 +2025-10-09T09:03:20\.000Z +50000 +0 %$/m,
    );
    const output = join(dir, 'one.bin');
    const content = Buffer.from(Array.from({ length: SIZE }, (_, i) => simulatedLogByte(1, i)));
    // What an earlier call left behind; the first byte shows that it was kept.
    const part = await open(`${output}.20251009090320000-${SIZE}.part`, 'w');
    await part.write(Buffer.concat([Buffer.of(99), content.subarray(1, 20_000)]));
    await part.close();
    const got = await svc(node.paths, 'flightlogs', 'get', '1', '--output', output);
    expect([got.code, got.stdout]).to.deep.equal([0, `${output}: ${SIZE} bytes\n`]);
    expect((await readFile(output)).equals(Buffer.concat([Buffer.of(99), content.subarray(1)]))).to.equal(
      true,
    );
    expect((await svc(node.paths, 'flightlogs', 'list')).stdout).to.match(/ 50000 +whole$/m);
    const none = await svc(node.paths, 'flightlogs', 'get', '7', '--output', output);
    expect(none.code).to.equal(1);
    expect(none.stderr).to.include('no log 7');
    expect((await svc(node.paths, 'flightlogs', 'erase')).code).to.equal(2);
    expect((await svc(node.paths, 'flightlogs', 'erase', '--yes')).stdout).to.equal(
      '2 logs were erased, 0 are left\n',
    );
    expect((await svc(node.paths, 'flightlogs', 'list')).stdout).to.equal('No logs.\n');
  });

  it('flights: each with its telemetry log and what happened in it', async () => {
    expect((await svc(node.paths, 'flights')).stdout).to.equal('No flights.\n');
    await armable(node);
    expect((await svc(node.paths, 'cmd', 'arm')).code).to.equal(0);
    const listed = await askAgain(
      'it has its log',
      async () => (await svc(node.paths, 'flights')).stdout,
      (text) => / - +1 +0 /.test(text),
    );
    const [, id = ''] = /^ +(\d+) +\S+Z +- +1 +0 +armed$/m.exec(listed) ?? [];
    const flying = (await svc(node.paths, 'flights', id)).stdout;
    expect(flying).to.match(/^telemetry log {3}(\S+\.tlog) {3}svc tlogs get \1$/m);
    expect(flying).to.match(/^vehicle's log {3}The flight goes on\.$/m);
    expect((await svc(node.paths, 'cmd', 'disarm')).code).to.equal(0);
    const over = await askAgain(
      'it is over',
      async () => (await svc(node.paths, 'flights', id)).stdout,
      (text) => / disarmed \{/.test(text),
    );
    expect(over).to.match(/^vehicle's log {3}none of its logs is of this flight$/m);
    expect(over).to.match(/info {2}armed \{"mode":.*\n.*flight_file .*tlog/);
    const none = await svc(node.paths, 'flights', '4711');
    expect(none.code).to.equal(1);
    expect(none.stderr).to.include('No flight 4711.');
  });

  it('explain says what is known, changed what differs', async () => {
    expect((await svc(node.paths, 'params', 'set', 'RTL_ALT', '2000')).code).to.equal(0);
    const explained = await svc(node.paths, 'params', 'explain', 'RTL_ALT');
    expect(explained.stdout).to.match(/^RTL_ALT is 2000 cm, the default is 1500 cm\n/);
    const changed = await svc(node.paths, 'params', 'changed');
    expect(changed.code).to.equal(0);
    expect(changed.stdout).to.match(/^RTL_ALT +2000 +1500$/m);
  });
});
