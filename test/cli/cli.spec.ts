import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { paramDifferences, writeParamFile } from '../../bin/commands/params/param-file.ts';
import { readParamFile } from '../../shared/flight/param-file.ts';
import { KEY } from '../support/edge.ts';
import { armable, telemetry } from '../support/events.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc, svcEnv, svcTold } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('svc on the command line', function () {
  this.timeout(120_000); // each call is a process of its own
  let node: TestNode;
  let dir = '';
  const run = async (...args: string[]): ReturnType<typeof svc> => svc(node.paths, ...args);
  const json = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await run(...args, '--json');
    expect(code, stderr + stdout).to.equal(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  before(async () => {
    dir = await tempDir();
    node = await TestNode.start({ pairing: { key: KEY } });
  });

  after(async () => {
    await node.stop();
    await removeDir(dir);
  });

  it('services: the list, a restart with its proof, an unknown one', async () => {
    const { stdout } = await run('services', 'list');
    expect(stdout).to.match(/^NAME +KIND +STATE +PID +RESTARTS +MB\n/);
    expect(stdout).to.match(/^svc-link +process +running +\d+ +0 /m);
    const before = node.pid('svc-residual');
    const proof = await json('services', 'restart', 'svc-residual');
    expect(proof).to.include({ status: 'ok', pid_before: before });
    // The process that answers: over when it answers again, as a new one.
    for (const name of ['svc-control', 'svc-supervisor']) {
      const { pid_before: old, pid_after: fresh } = await json('services', 'restart', name);
      expect(fresh, name).to.be.a('number').and.to.not.equal(old);
      expect((await run('services', 'list')).code, name).to.equal(0);
    }
    // A process that has nothing to do is not started, and that is what is said.
    const idle = await run('services', 'restart', 'svc-video');
    expect(idle.stdout, idle.stderr).to.match(
      /^svc-video: (?:did not run|pid \d+ ended), and it is not needed now: see svc services list$/m,
    );
    const unknown = await run('services', 'restart', 'sshd');
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.include('No service');
  });

  it('peripherals: what is connected, one kind of it', async () => {
    const { peripherals, count } = await json('peripherals');
    expect((peripherals as { connected: boolean }[]).filter(({ connected }) => connected)).to.have.length(
      Number(count),
    );
    expect((await run('peripherals', '--kind', 'network')).stdout).to.match(
      /^(?:network +\S|Nothing is connected)/,
    );
    expect((await run('peripherals', '--kind', 'toaster')).code).to.equal(2);
  });

  it('params: get, set, list, save, diff, load', async () => {
    const file = join(dir, 'all.param');
    expect((await json('params', 'set', 'RTL_ALT', '1700'))['cached_value']).to.equal(1700);
    expect((await run('params', 'get', 'RTL_ALT')).stdout.trim()).to.equal('1700');
    expect(
      Object.keys(await json('params', 'list', 'wpnav')).every((name) => name.startsWith('WPNAV')),
    ).to.equal(true);
    await run('params', 'save', file);
    expect(Object.keys(readParamFile(await readFile(file, 'utf8'))).length).to.be.greaterThan(100);
    expect((await run('params', 'diff', file)).code).to.equal(0);
    await run('params', 'set', 'RTL_ALT', '1900');
    const differs = await run('params', 'diff', file);
    expect(differs.code).to.equal(1);
    expect(differs.stdout).to.match(/^NAME +FILE +VEHICLE\nRTL_ALT +1700 +1900$/m);
    expect((await run('params', 'load', file, '--dry-run')).stdout).to.include('1 would be written');
    expect(await json('params', 'load', file)).to.deep.equal({
      written: ['RTL_ALT'],
      unknown: [],
      reserved: [],
    });
    expect((await run('params', 'get', 'RTL_ALT')).stdout.trim()).to.equal('1700');
    const told = await svcTold(node.paths, '\ufeffRTL_ALT,0x6A5\r\n', 'params', 'load', '-', '--dry-run');
    expect(told.stdout).to.match(/1700 -> 1701/);
    const wrong = await run('params', 'set', 'RTL_ALT', 'high');
    expect([wrong.code, wrong.stderr.includes('is not a number')]).to.deep.equal([2, true]);
  });

  it('an output that cannot be written is said in a line, with an exit code', async () => {
    const line = `${process.execPath} ${join(ROOT, 'bin/svc.js')} status >/dev/full`;
    const child = spawnSync('sh', ['-c', line], { env: svcEnv(node.paths), encoding: 'utf8' });
    expect([child.status, child.stderr]).to.deep.equal([
      1,
      'svc: the output cannot be written: ENOSPC: no space left on device, write\n',
    ]);
  });

  it('params: floats have the digits of a float, --json all of them; what the vehicle counts is no change', async () => {
    expect((await run('params', 'set', 'ATC_RAT_PIT_P', '0.1')).stdout.trim()).to.equal(
      'ATC_RAT_PIT_P is 0.1',
    );
    expect((await run('params', 'get', 'ATC_RAT_PIT_P')).stdout.trim()).to.equal('0.1');
    expect((await run('params', 'list', 'ATC_RAT_PIT_P')).stdout).to.equal(
      'NAME           VALUE\nATC_RAT_PIT_P  0.1\n',
    );
    expect((await json('params', 'get', 'ATC_RAT_PIT_P'))['value']).to.equal(Math.fround(0.1));
    const { changed } = (await json('params', 'changed')) as { changed: { name: string }[] };
    expect(changed.map(({ name }) => name)).to.include.members(['ATC_RAT_PIT_P', 'MIS_TOTAL']);
    const { stdout } = await run('params', 'changed');
    expect(stdout).to.match(/^ATC_RAT_PIT_P +0\.1 +0\.135$/m);
    expect(stdout).to.not.match(/^(?:STAT_|MIS_TOTAL)/m);
    expect(stdout).to.match(/^Left out: what the vehicle counts by itself \(\d+\)/m);
    expect(stdout).to.not.match(/\d\.\d{8}/);
  });

  for (const [words, said] of [
    [['rtk'], 'off: the vehicle gets no corrections.'],
    [['params', 'list', 'NOSUCH_'], 'No parameter begins with NOSUCH_.'],
    [['logs', 'query', '--source', 'nobody'], 'No records.'],
    [
      [
        'logs',
        'aggregate',
        '--metric',
        'rc.rssi',
        '--bucket',
        '1h',
        '--from',
        '2001-01-01T00:00:00Z',
        '--to',
        '2001-01-02T00:00:00Z',
      ],
      'No figures of that time.',
    ],
  ] as const)
    it(`svc ${words.join(' ')} says that there is nothing`, async () => {
      const { code, stdout, stderr } = await run(...words);
      expect([code, (stdout + stderr).includes(said)], stdout + stderr).to.deep.equal([0, true]);
    });

  it('config: of a radio that somebody else runs, a setting that changes nothing says so', async () => {
    await run('config', 'set', 'radio.mode', 'external', '--force');
    const set = await run('config', 'set', 'radio.mcs', '3', '--force');
    await run('config', 'set', 'radio.mode', 'off', '--force');
    expect(set.stdout).to.include('this node does not tell wfb-ng').and.not.include('in force after');
  });

  it('config: get, set, an unknown key', async () => {
    expect((await run('config', 'get', 'mavlink.source')).stdout.trim()).to.equal('sim');
    const set = await run('config', 'set', 'mavlink.endpoints', 'udp:127.0.0.1:14777');
    expect(set.stdout).to.include('["udp:127.0.0.1:14777"]').and.to.include('svc services restart svc-link');
    expect((await run('config', 'get', 'no.such')).code).to.equal(1);
    expect((await json('config', 'schema'))['properties']).to.have.property('mavlink');
  });

  it('logs: query, export, sessions, status, aggregate', async () => {
    const { stdout } = await run(
      'logs',
      'query',
      '--source',
      'svc-link',
      '--source',
      'svc-control',
      '--limit',
      '500',
    );
    expect(stdout).to.match(/info +svc-link +vehicle 1\/1 learned/);
    const file = join(dir, 'export.jsonl');
    const { bytes } = await json('logs', 'export', '--level', 'info', '--output', file);
    const text = await readFile(file, 'utf8');
    expect(Buffer.byteLength(text)).to.equal(bytes);
    expect((await run('logs', 'sessions', '--kind', 'boot', '--open')).stdout).to.match(
      /^ID +KIND +STARTED +SECONDS +RECORDS +REASON\n +1 +boot +\S+ +- +\d+ +node started$/m,
    );
    expect((await run('logs', 'stats')).stdout).to.match(/^logs +\d+$/m);
    expect((await json('logs', 'status', '--openapi'))['openapi']).to.equal('3.1.0');
    const { buckets } = await json(
      'logs',
      'aggregate',
      '--metric',
      'battery.voltage',
      '--agg',
      'max',
      '--bucket',
      '1h',
    );
    expect(buckets).to.have.length(1);
    const wrong = await run('logs', 'query', '--since', 'yesterday');
    expect(wrong.code).to.equal(1);
  });

  it('another node by --host and --key; a wrong key and a wrong place are told apart by their exit code', async () => {
    const remote = ['--host', `127.0.0.1:${node.port}`];
    expect((await run('status', ...remote, '--key', KEY)).stdout).to.include('svc-link');
    expect((await run('status', ...remote, '--key', 'svc_wrong')).code).to.equal(1);
    const nobody = await run('status', '--host', '127.0.0.1:1', '--key', KEY);
    expect([nobody.code, nobody.stderr.includes('No node answers')]).to.deep.equal([3, true]);
  });

  it('cmd: the exit code is the vehicle’s verdict', async () => {
    expect((await run('cmd', 'takeoff', '5')).code).to.equal(1); // disarmed
    await armable(node, { 'x-svc-key': KEY });
    const armed = await run('cmd', 'arm');
    expect(armed.code).to.equal(0);
    expect(armed.stdout.trim()).to.equal('accepted');
    expect((await run('cmd', 'arm', '--wait')).stderr).to.include('takeoff, goto, land, rtl');
    await run('cmd', 'mode', 'GUIDED');
    const up = await run('cmd', 'takeoff', '3', '--wait');
    expect([up.code, up.stdout]).to.satisfy(
      ([code, text]: [number, string]) => code === 0 && text.startsWith('done: GUIDED, armed'),
      up.stderr + up.stdout,
    );
    const far = await run('cmd', 'goto', '48', '11', '20');
    expect(far.code).to.equal(1);
    expect(far.stderr.replaceAll(/\s+/g, ' ')).to.match(/\d+ km from the vehicle.*Repeat with --allow-far/);
    const meant = await run('cmd', 'goto', '48', '11', '20', '--allow-far');
    expect([meant.code, meant.stdout.trim()]).to.deep.equal([0, 'accepted']);
    expect((await run('cmd', 'goto', '-35.363', '149.165', '20', '--allow-far')).code).to.be.oneOf([0, 1]);
    const unknown = await run('cmd', 'explode');
    expect([unknown.code, unknown.stderr.includes('Unknown command')]).to.deep.equal([1, true]);
    const guarded = await run('params', 'set', 'RTL_ALT', '2000');
    expect([guarded.code, guarded.stderr.includes('armed')]).to.deep.equal([1, true]);
    expect((await run('params', 'set', 'RTL_ALT', '2000', '--force')).code).to.equal(0);
    // What it does by itself is in the line of the vehicle.
    expect((await run('status')).stdout).to.not.include('FAILSAFE');
    await run('params', 'set', 'BATT_LOW_TIMER', '1', '--force');
    await run('params', 'set', 'BATT_LOW_VOLT', '13', '--force');
    // Its words come after its state.
    const why = ({ failsafe }: Readonly<Record<string, unknown>>): boolean =>
      (failsafe as { reasons: string[] }).reasons.includes('battery');
    await telemetry(node, why, { 'x-svc-key': KEY });
    expect((await run('status')).stdout).to.match(/^vehicle .*FAILSAFE \(battery\)/m);
  });
});

describe('a parameter file', () => {
  it('is read as Mission Planner and MAVProxy write it, and what is no such line is named', () => {
    expect(readParamFile('# a comment\nA_B,1\r\nC 2.5 # why\n\nD\t-3e-2\n')).to.deep.equal({
      A_B: 1,
      C: 2.5,
      D: -0.03,
    });
    expect(() => readParamFile('A 1\nB one')).to.throw('line 2 is not NAME value: B one');
    const values = { Z: 0.1, A: 3 };
    expect(readParamFile(writeParamFile(values, 'x'))).to.deep.equal(values);
  });

  it('differs by float32, not by the digits of a double', () => {
    expect(paramDifferences({ A: 0.1, B: 1, C: 2 }, { A: Math.fround(0.1), B: 2, D: 3 })).to.deep.equal([
      { name: 'B', file: 1, vehicle: 2 },
      { name: 'C', file: 2, vehicle: null },
      { name: 'D', file: null, vehicle: 3 },
    ]);
  });
});
