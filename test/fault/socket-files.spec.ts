import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, readFileSync } from 'node:fs';
import { chmod, chown, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Paths } from '../../shared/paths.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const headers = { 'x-svc-key': KEY };
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Leaves a socket file that nobody listens on any more, as a power cut does. */
function deadSocket(path: string): void {
  // Node removes the file of a server that it closes; one that is killed leaves it.
  const script = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script, path]);
}

describe('what lies where a socket has to be', () => {
  let node: TestNode | null = null;
  let foreign: Server | null = null;
  afterEach(async () => {
    foreign?.closeAllConnections();
    foreign?.close();
    foreign = null;
    await node?.stop();
    node = null;
  });

  /** A node that ran before, whose run directory was changed since. */
  async function startIn(prepare: (paths: Paths) => Promise<void>): Promise<TestNode> {
    const before = await TestNode.launch({ pairing: { key: KEY }, simulated: false });
    await before.until((services) => services.length > 1);
    await before.stop({ keep: true });
    await prepare(before.paths);
    node = await TestNode.resume(before, {});
    return node;
  }

  /** A server of somebody else, who answers everything. */
  async function foreignServer(path: string): Promise<void> {
    foreign = createServer((_req, res) => res.end('{"foreign":true}'));
    foreign.listen(path);
    await once(foreign, 'listening');
  }

  it('H5 sockets of a power cut, another user’s and open to everybody: replaced by ours, mode 0660 (needs root, to give them away)', async function () {
    if (!isRoot) return this.skip();
    const sockets = (paths: Paths): readonly string[] => [
      paths.supervisorSocket,
      paths.controlSocket,
      paths.residualSocket,
      paths.linkSocket,
      paths.mavlinkSocket,
      paths.logSocket,
    ];
    const running = await startIn(async (paths) => {
      for (const path of sockets(paths)) {
        deadSocket(path);
        await chmod(path, 0o777);
        await chown(path, NOBODY, NOBODY);
      }
    });
    await running.until((services) => services.every(({ state }) => state === 'running'));
    for (const path of sockets(running.paths)) {
      const { mode, uid } = lstatSync(path);
      expect([mode & 0o777, uid], path).to.deep.equal([0o660, 0]);
    }
    for (const { name, restarts } of running.services) expect(restarts, name).to.equal(0);
    expect((await running.fetch('/api/config', { headers })).status).to.equal(200);
  });

  it('H5 a symbolic link to a foreign server, and a FIFO: refused with words, neither followed nor removed; the rest runs', async () => {
    const running = await startIn(async ({ run, residualSocket, linkSocket }) => {
      await foreignServer(join(run, 'foreign.sock'));
      await symlink(join(run, 'foreign.sock'), residualSocket);
      spawnSync('mkfifo', [linkSocket]);
    });
    await running.until(() =>
      ['svc-residual', 'svc-link'].every((name) => running.service(name).last_exit === 'code 1'),
    );
    await running.until(() => running.service('svc-control').state === 'running');
    for (const [name, path] of [
      ['svc-residual', running.paths.residualSocket],
      ['svc-link', running.paths.linkSocket],
    ] as const)
      expect(running.service(name).last_words.join()).to.include(`${path} exists and is not a socket`);
    expect(lstatSync(running.paths.residualSocket).isSymbolicLink()).to.equal(true);
    expect(lstatSync(running.paths.linkSocket).isFIFO()).to.equal(true);
    expect((await running.fetch('/api/status', { headers })).status).to.equal(200);
  });

  it('H5 a file in the way of control.sock: svc-control refuses with words, the file stays as it was', async () => {
    const running = await startIn(async ({ controlSocket }) => writeFile(controlSocket, 'precious'));
    await running.until(() => running.service('svc-control').last_exit !== null);
    const { last_exit: exit, last_words: words } = running.service('svc-control');
    expect(exit).to.equal('code 1');
    expect(words.join()).to.include('exists and is not a socket');
    expect(readFileSync(running.paths.controlSocket, 'utf8')).to.equal('precious');
  });

  it('H5 a live socket of another process: not stolen; exit 75, because a later try may find it free', async () => {
    const running = await startIn(async ({ linkSocket }) => foreignServer(linkSocket));
    await running.until(() => running.service('svc-link').last_exit !== null);
    expect(running.service('svc-link').last_exit).to.equal('code 75');
    expect(running.service('svc-link').last_words.join()).to.include('in use by a running process');
    foreign?.closeAllConnections();
    foreign?.close(); // removes its file too
    await running.until(() => running.service('svc-link').state === 'running');
  });
});
