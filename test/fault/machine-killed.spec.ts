import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { SAFE_PATH, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const KILLS = 3;
const KEYED = { headers: { 'x-svc-key': KEY } };

/** A machine whose NetworkManager does not run. */
async function install(folder: string): Promise<void> {
  const nmcli = join(folder, 'nmcli');
  await writeFile(nmcli, '#!/bin/sh\necho "Error: NetworkManager is not running." >&2\nexit 8\n');
  await chmod(nmcli, 0o755);
}

describe('svc-machine', () => {
  let programs: string;

  before(async () => {
    programs = await tempDir();
  });

  after(async () => removeDir(programs));

  it('may be killed again and again: the next request is answered by its successor, and nobody else notices', async () => {
    await install(programs);
    const node = await TestNode.start({
      pairing: { key: KEY },
      env: { PATH: `${programs}:${SAFE_PATH}`, SVC_NETWORK_MANAGER_RUN: programs },
    });
    const others = () => [node.pid('svc-control'), node.pid('svc-link'), node.pid('svc-residual')];
    const before = others();
    const asked = await node.json('/api/v1/network', KEYED);
    expect(asked.body).to.include({ code: 'E_UPSTREAM_DOWN' });
    expect(asked.body['detail']).to.match(/NetworkManager/);
    for (let kill = 0; kill < KILLS; kill++) {
      await node.killAndAwaitSuccessor('svc-machine');
      expect(await node.json('/api/v1/network', KEYED)).to.deep.include({
        status: asked.status,
        body: asked.body,
      });
    }
    expect(others()).to.deep.equal(before);
    expect(node.service('svc-machine').restarts).to.equal(KILLS);
    await node.stop();
  });

  it('does not run where there is nothing for it to do, and what it would answer names the program, until that is there', async () => {
    const later = await tempDir();
    const node = await TestNode.start({
      config: 'agent:\n  profile: ground-station\n',
      pairing: { key: KEY },
      env: { PATH: later, SVC_NETWORK_MANAGER_RUN: later },
    });
    expect(node.services.map(({ name }) => name)).not.to.include('svc-machine');
    for (const [path, missing] of [
      ['/api/v1/network', 'nmcli'],
      ['/api/v1/ground-station/network', 'nmcli'],
      ['/api/v1/ground-station/mesh', 'batctl'],
    ] as const) {
      const { status, body } = await node.json(path, KEYED);
      expect(status, path).to.equal(501);
      expect(body, path).to.include({ code: 'E_NOT_IMPLEMENTED', missing });
    }
    // Udev's files need none of those programs.
    expect((await node.json('/api/v1/network/mac/adapters', KEYED)).status).to.equal(200);
    await install(later);
    expect((await node.json('/api/v1/network', KEYED)).body).to.include({ code: 'E_UPSTREAM_DOWN' });
    expect(node.service('svc-machine').state).to.equal('running');
    await node.stop();
    await removeDir(later);
  });
});
