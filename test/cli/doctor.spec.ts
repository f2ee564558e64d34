import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { freePort } from '../support/temp.ts';
import { TEST_CAMERA } from '../support/video-node.ts';

const execute = promisify(execFile);

interface Check {
  readonly name: string;
  readonly result: string;
  readonly found: string;
  readonly advice: string | null;
}

describe('svc doctor', () => {
  it('finds nothing failed in a node that runs; finds each thing that is broken, and the node down', async () => {
    const node = await TestNode.start({ pairing: { key: KEY }, config: TEST_CAMERA });
    const doctor = async (): Promise<{ code: number; checks: readonly Check[] }> => {
      const { code, stdout } = await svc(node.paths, 'doctor', '--json');
      return { code, checks: (JSON.parse(stdout) as { checks: readonly Check[] }).checks };
    };
    const failed = (checks: readonly Check[]): readonly string[] =>
      checks.filter(({ result }) => result === 'fail').map(({ name }) => name);

    node.stderr = '';
    const well = await doctor();
    const bundle = join(node.base, 'bundle.zip');
    expect((await svc(node.paths, 'support-bundle', '--output', bundle)).code).to.equal(0);
    // It looks without leaving anything behind: nothing of it is a fault of the node.
    expect(node.stderr.split('\n').filter((line) => !/^$|"level":"(debug|info)"/.test(line))).to.deep.equal(
      [],
    );
    expect(failed(well.checks), JSON.stringify(well.checks)).to.deep.equal([]);
    expect(well.code).to.equal(0);
    expect(well.checks.map(({ name }) => name)).to.include.members([
      'node',
      'process svc-link',
      'flight controller',
      'disk',
      'clock',
      'temperature',
      'socket control.sock',
      'API port',
    ]);
    const port = well.checks.find(({ name }) => name === 'API port');
    expect(port).to.deep.include({ result: 'ok', found: `The node answers on ${node.port}.` });

    await chmod(node.paths.pairing, 0o644);
    await writeFile(node.paths.dashboardPin, '{', { mode: 0o600 });
    await writeFile(node.paths.config, 'api:\n  port: eighty\n');
    const ill = await doctor();
    await chmod(node.paths.controlSocket, 0o666);
    await rm(node.paths.logSocket);
    const worse = await doctor();
    expect(failed(worse.checks)).to.include.members(['socket control.sock', 'socket logs.sock']);
    expect(failed(ill.checks)).to.have.members(['pairing file', 'PIN file', 'config']);
    expect(ill.code).to.equal(1);
    for (const { result, advice } of ill.checks) if (result === 'fail') expect(advice).to.be.a('string');

    await node.stop({ keep: true });
    const down = await doctor();
    expect(failed(down.checks)).to.include('node');
    const results = Object.fromEntries(down.checks.map(({ name, result }) => [name, result]));
    expect(results).to.include({ 'API port': 'ok', 'log store': 'ok', 'socket link.sock': 'skip' });
    await writeFile(node.paths.logStore, 'this is no database at all');
    await writeFile(node.paths.logSocket, '');
    const taken = createServer();
    taken.listen(node.port);
    await once(taken, 'listening');
    const broken = failed((await doctor()).checks);
    taken.close();
    expect(broken).to.include.members(['API port', 'log store', 'socket logs.sock']);
    expect(JSON.stringify(down.checks)).to.not.include(KEY);
    await node.remove();
  });

  it('a frozen front, a foreign program on its port, and a node elsewhere', async () => {
    const node = await TestNode.start({ simulated: false });
    const checks = async (): Promise<Readonly<Record<string, Check>>> => {
      const { stdout } = await svc(node.paths, 'doctor', '--json');
      const list = (JSON.parse(stdout) as { checks: readonly Check[] }).checks;
      return Object.fromEntries(list.map((check) => [check.name, check]));
    };
    try {
      const remote = await svc(node.paths, 'doctor', '--host', `127.0.0.1:${node.port}`, '--json');
      const names = (JSON.parse(remote.stdout) as { checks: readonly Check[] }).checks.map(
        ({ name }) => name,
      );
      expect(remote.code).to.equal(0);
      expect(names).to.include.members(['node', 'machine and files']).and.not.include('disk');

      // The config now names a port that is somebody else's.
      const other = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'));
      other.listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as AddressInfo;
      await writeFile(node.paths.config, `api:\n  port: ${port}\nvideo:\n  source: none\n`);
      expect((await checks())['API port']).to.include({ result: 'fail' });
      other.close();

      const pid = node.pid('svc-control');
      process.kill(pid, 'SIGSTOP');
      const frozen = await checks();
      process.kill(pid, 'SIGCONT');
      expect(frozen['node']).to.include({ result: 'fail' });
      expect(frozen['node']?.advice).to.include('does not answer properly');
    } finally {
      await node.stop();
    }
  });

  it('what is wrong with the link is said by doctor, status and diagnostics', async () => {
    const itself = `tcp:127.0.0.1:${await freePort()}`;
    const node = await TestNode.start({
      simulated: false,
      config: `mavlink:\n  source: ${itself}\n  endpoints: ["${itself}"]\n`,
    });
    try {
      const { stdout } = await svc(node.paths, 'doctor', '--json');
      const { checks } = JSON.parse(stdout) as { checks: readonly Check[] };
      const found = checks.find(({ name }) => name === 'source is own endpoint');
      expect(found).to.include({ result: 'warn' });
      expect(found?.found).to.include(itself);
      expect((await svc(node.paths, 'status')).stdout).to.match(/^problem {4}mavlink\.source tcp:/m);
      const answer = await svc(node.paths, 'status', '--json');
      expect(answer.stdout).to.include('source_is_own_endpoint');
    } finally {
      await node.stop();
    }
  });

  it('where a folder cannot be looked at, that is a finding, and the other checks go on', async () => {
    const paths = { etc: '/dev/null/x', run: '/dev/null/x', state: '/dev/null/x' } as Parameters<
      typeof svc
    >[0];
    const { code, stdout } = await svc(paths, 'doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: readonly Check[] };
    expect(code).to.equal(1);
    expect(checks.find(({ name }) => name === 'disk')).to.include({ result: 'fail' });
    expect(checks.find(({ name }) => name === 'clock')).to.include({ result: 'ok' });
    for (const { found, advice, result } of checks) {
      expect(found).to.not.equal('');
      if (result === 'fail' || result === 'warn') expect(advice).to.be.a('string');
    }
  });

  const asNobody = process.getuid?.() === 0 && existsSync('/usr/bin/setpriv') ? it : it.skip;
  asNobody(
    'to a user who may not ask it, a node is no failure (needs root, to become nobody, and setpriv)',
    async () => {
      const node = await TestNode.start({ simulated: false });
      try {
        await chmod(node.base, 0o755);
        const { etc, run, state } = node.paths;
        const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups'];
        const { stdout } = await execute(
          'setpriv',
          [...nobody, process.execPath, join(ROOT, 'bin/svc.js'), 'doctor', '--json'],
          { env: { ...process.env, SVC_ETC_DIR: etc, SVC_RUN_DIR: run, SVC_STATE_DIR: state } },
        );
        const { checks } = JSON.parse(stdout) as { checks: readonly Check[] };
        expect(checks.filter(({ result }) => result === 'fail')).to.deep.equal([]);
        const skipped = checks.filter(({ result }) => result === 'skip').map(({ name }) => name);
        expect(skipped).to.include.members(['node', 'API port', 'socket control.sock', 'log store']);
      } finally {
        await node.stop();
      }
    },
  );
});
