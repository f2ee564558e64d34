import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { startFront } from '../support/front.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const headers = { 'x-svc-key': KEY };

/** Runs the supervisor in `base` until it ends by itself. */
async function runToEnd(
  base: string,
  config: string,
  user?: string,
): Promise<{ code: number | null; stderr: string }> {
  const env = {
    ...process.env,
    SVC_ETC_DIR: join(base, 'etc'),
    SVC_RUN_DIR: join(base, 'run'),
    SVC_STATE_DIR: join(base, 'state'),
  };
  if (config !== '') {
    await mkdir(join(base, 'etc'), { recursive: true });
    await writeFile(join(base, 'etc/config.yaml'), config);
  }
  const options = user === undefined ? {} : { uid: Number(spawnSync('id', ['-u', user]).stdout.toString()) };
  const child = spawn(process.execPath, [join(ROOT, 'bin/supervisor/main.ts')], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...options,
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

describe('the supervisor', () => {
  it('shows states, pids, restarts and last words over /api/services and svc status', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    try {
      await node.killAndAwaitSuccessor('svc-residual');
      const { body } = await node.json('/api/services', { headers });
      const residual = (body['services'] as Record<string, unknown>[]).find(
        ({ name }) => name === 'svc-residual',
      );
      expect(residual).to.include({
        state: 'running',
        restarts: 1,
        last_exit: 'SIGKILL',
        pid: node.pid('svc-residual'),
      });
      const env = {
        ...process.env,
        SVC_ETC_DIR: node.paths.etc,
        SVC_RUN_DIR: node.paths.run,
        SVC_STATE_DIR: node.paths.state,
      };
      const svc = async (...args: string[]) =>
        promisify(execFile)(process.execPath, [join(ROOT, 'bin/svc.js'), ...args], { env });
      const status = JSON.parse((await svc('status', '--json')).stdout) as {
        services: unknown[];
        fc_port: unknown;
      };
      expect(status.services).to.have.length(5);
      expect((await svc('status')).stdout).to.match(/svc-residual\s+running\s+\d+\s+1$/m);
    } finally {
      expect(await node.stop()).to.equal(0);
    }
  });

  it('H2 parks a process that keeps failing; native routes answer, its routes say 503, status shows it', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    try {
      const parked = node.until((services) =>
        services.some(({ name, state }) => name === 'svc-residual' && state === 'parked'),
      );
      const kill = (): void => {
        const { pid, state } = node.service('svc-residual');
        if (pid !== null && state === 'running') process.kill(pid, 'SIGKILL');
      };
      const killer = node.until((services) => {
        kill();
        return services.some(({ name, state }) => name === 'svc-residual' && state === 'parked');
      });
      await Promise.all([parked, killer]);
      expect((await node.fetch('/api/status', { headers })).status).to.equal(200);
      expect((await node.fetch('/api/config', { headers })).status).to.equal(503);
      expect((await node.json('/readyz')).body).to.deep.include({ ready: false });
      expect(node.service('svc-residual')).to.include({ state: 'parked', restarts: 5, pid: null });
    } finally {
      await node.stop();
    }
  });

  it('--no-residual: residual routes say 501, the rest works', async () => {
    const node = await TestNode.start({ pairing: { key: KEY }, args: ['--no-residual'] });
    try {
      expect(node.services.map(({ name }) => name)).to.not.include('svc-residual');
      expect((await node.json('/api/config', { headers })).body).to.include({
        code: 'E_NOT_IMPLEMENTED',
        feature: 'config',
      });
      expect((await node.fetch('/api/config/schema', { headers })).status).to.equal(200);
      // The front runs a moment before its own connections to the others stand.
      while ((await node.fetch('/readyz')).status !== 200) await new Promise(setImmediate);
    } finally {
      await node.stop();
    }
  });

  it('a ground station runs its own features', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      config: 'agent:\n  profile: ground_station\nfeatures:\n  flight: false\n',
    });
    try {
      expect((await node.json('/api/status', { headers })).body).to.include({ profile: 'ground-station' });
      expect((await node.json('/api/vision', { headers })).body).to.include({
        code: 'E_NOT_IMPLEMENTED',
        profile: 'ground-station',
      });
      expect((await node.json('/api/telemetry', { headers })).body).to.include({
        code: 'E_NOT_IMPLEMENTED',
        feature: 'flight',
      });
    } finally {
      await node.stop();
    }
  });

  it('SIGTERM ends everything with exit code 0 and leaves no socket', async () => {
    const node = await TestNode.start();
    const sockets = [
      node.paths.controlSocket,
      node.paths.linkSocket,
      node.paths.residualSocket,
      node.paths.supervisorSocket,
    ];
    for (const path of sockets) expect(lstatSync(path).mode & 0o777, path).to.equal(0o660);
    const gone = once(node.supervisor, 'exit');
    node.supervisor.kill('SIGTERM');
    expect((await gone)[0]).to.equal(0);
    for (const path of sockets) expect(lstatSync(path, { throwIfNoEntry: false }), path).to.equal(undefined);
    await node.stop();
  });

  describe('cannot start, and says why', () => {
    let base: string;
    let taken: Server | null = null;
    beforeEach(async () => {
      base = await tempDir();
    });
    afterEach(async () => {
      taken?.close();
      taken = null;
      await removeDir(base);
    });

    it('while another supervisor runs the same node', async () => {
      await mkdir(join(base, 'run'), { recursive: true });
      taken = createServer().listen(join(base, 'run/supervisor.sock'));
      await once(taken, 'listening');
      const { code, stderr } = await runToEnd(base, 'logging:\n  level: info\n');
      expect(code).to.equal(1);
      expect(stderr).to.include('supervisor.sock is in use by a running process');
    });

    for (const kind of ['file', 'symlink', 'fifo', 'directory'] as const) {
      it(`H5 where the socket path is a ${kind}: refused, and not followed or removed`, async () => {
        const path = join(base, 'run/supervisor.sock');
        await mkdir(join(base, 'run'), { recursive: true });
        if (kind === 'file') await writeFile(path, 'precious');
        if (kind === 'symlink') await symlink(join(base, 'elsewhere'), path);
        if (kind === 'fifo') spawnSync('mkfifo', [path]);
        if (kind === 'directory') await mkdir(path);
        const { code, stderr } = await runToEnd(base, 'logging:\n  level: info\n');
        expect(code).to.equal(1);
        expect(stderr).to.include('exists and is not a socket');
        expect(lstatSync(path, { throwIfNoEntry: false })).to.not.equal(undefined);
      });
    }

    it('without permission to write its directories (needs root, to become nobody)', async function () {
      if (process.getuid?.() !== 0) this.skip();
      await chmod(base, 0o755);
      const { code, stderr } = await runToEnd(base, '', 'nobody');
      expect(code).to.equal(1);
      expect(stderr)
        .to.match(/EACCES/)
        .and.not.match(/\n\s+at /);
    });

    it('with directories too deep for a socket path', async () => {
      const deep = join(base, 'd'.repeat(90));
      const { code, stderr } = await runToEnd(deep, 'logging:\n  level: info\n');
      expect(code).to.equal(1);
      expect(stderr).to.include('too long for a socket path');
    });
  });

  it('H7 a port that is taken: the front says so and exits 75, the node retries with back-off and comes up when it is free', async () => {
    const port = await freePort();
    const squatter = createServer().listen(port);
    await once(squatter, 'listening');
    const node = await TestNode.launch({ port });
    try {
      await node.until((services) =>
        services.some(({ name, state }) => name === 'svc-control' && state === 'waiting'),
      );
      const { last_exit: exit, last_words: words } = node.service('svc-control');
      expect(exit).to.equal('code 75');
      expect(words.join('\n')).to.include(`port ${port} is in use`);
      squatter.close();
      await node.until((services) =>
        services.some(({ name, state }) => name === 'svc-control' && state === 'running'),
      );
      expect((await node.fetch('/healthz')).status).to.equal(200);
    } finally {
      await node.stop();
    }
  });
});

describe('the front stops', () => {
  it('H8 SIGTERM: finishes what is in flight, then exits 0', async () => {
    const front = await startFront();
    const upstream = (await import('node:http')).createServer((_req, res) => {
      front.process.kill('SIGTERM');
      // Answer only when the front has stopped accepting.
      const probe = setInterval(() => {
        fetch(`${front.url}/healthz`).catch(() => {
          clearInterval(probe);
          res.end('{"late":true}');
        });
      }, 20);
    });
    upstream.listen(front.paths.residualSocket);
    await once(upstream, 'listening');
    const gone = once(front.process, 'exit');
    const response = await fetch(`${front.url}/api/config`, { headers });
    expect(await response.json()).to.deep.equal({ late: true });
    expect((await gone)[0]).to.equal(0);
    upstream.closeAllConnections();
    upstream.close();
    await front.stop();
  });
});
