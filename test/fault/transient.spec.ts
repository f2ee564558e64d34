import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PairingStore } from '../../front/control/stores/pairing.ts';
import { contained } from '../../shared/async/every.ts';
import { sweepTemporary, writeAtomic } from '../../shared/files/atomic-write.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { silentLog } from '../support/pin-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const run = promisify(execFile);

/** Resolves when the node has written `text` to stderr. */
async function says(node: TestNode, text: string): Promise<void> {
  while (!node.stderr.includes(text)) await once(node.supervisor.stderr ?? node.supervisor, 'data');
}

describe('faults that pass, and copies that fail', () => {
  it('a copy of the pairing that cannot be written fails neither claim nor unpair', async () => {
    const dir = await tempDir();
    const file = join(dir, 'pairing.json');
    await mkdir(`${file}.bak`); // fails for root too
    const open = async (): Promise<PairingStore> => {
      const store = new PairingStore({
        file,
        now: Date.now,
        monotonic: () => performance.now(),
        log: silentLog,
      });
      await store.start();
      return store;
    };
    const store = await open();
    const key = await store.claim('alice', null, false);
    expect(store.key).to.equal(key);
    const next = await open();
    expect(next.key).to.equal(key);
    await next.unpair();
    expect(next.paired).to.equal(false);
    expect(await readFile(file, 'utf8')).to.include('false');
    await store.stop();
    await next.stop();
    await removeDir(dir);
  });

  it('what a killed process left of a write is swept at the next start; what a live one writes stays', async () => {
    const node = await TestNode.launch({
      pairing: { key: KEY },
      prepare: async ({ etc, state }) => {
        const dead = spawn('true');
        await once(dead, 'exit');
        await mkdir(state, { recursive: true });
        await writeFile(join(etc, `.mcp-token.json.${dead.pid ?? 0}-0123456789ab.tmp`), 'secret');
        await writeFile(join(state, `.sessions.json.${dead.pid ?? 0}-0123456789ab.tmp`), 'secret');
        await writeFile(join(etc, `.pairing.json.${process.pid}-0123456789ab.tmp`), 'under way');
        await writeFile(join(etc, '.old.json.0123456789ab.tmp'), 'of an earlier version');
        await utimes(join(etc, '.old.json.0123456789ab.tmp'), 1, 1);
      },
    });
    await node.until((services) =>
      services.some(({ name, state }) => name === 'svc-control' && state === 'running'),
    );
    const { etc, state } = node.paths;
    const left = [...(await readdir(etc)), ...(await readdir(state))].filter((name) => name.endsWith('.tmp'));
    expect(left).to.deep.equal([`.pairing.json.${process.pid}-0123456789ab.tmp`]);
    await node.stop();
  });

  it('the names that are swept are those that are written', async () => {
    const dir = await tempDir();
    const script = `
      const fs = await import('node:fs/promises');
      const { syncBuiltinESMExports } = await import('node:module');
      fs.default.rename = () => process.kill(process.pid, 'SIGKILL');
      syncBuiltinESMExports();
      const { writeAtomic } = await import(${JSON.stringify(join(ROOT, 'shared/files/atomic-write.ts'))});
      await writeAtomic(${JSON.stringify(join(dir, 'store.json'))}, 'x');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
    await once(child, 'exit');
    expect(await readdir(dir)).to.have.length(1);
    await writeAtomic(join(dir, 'other.json'), 'x');
    await sweepTemporary([dir, join(dir, 'missing')], Date.now(), (sentence) => {
      throw new Error(sentence);
    });
    expect(await readdir(dir)).to.deep.equal(['other.json']);
    await removeDir(dir);
  });

  it('no descriptor left while pairing.json and the token store are read again: the pairing holds, the front lives', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      config: 'discovery:\n  mdns: true\nmcp:\n  token_accept_enabled: true\n',
    });
    const headers = { 'x-svc-key': KEY };
    const minted = await node.post('/api/mcp/tokens', { scopes: ['read'] }, headers);
    const token = { 'x-svc-mcp-token': String(minted.body['token']) };
    // All over one connection: for another one the front has no descriptor.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statusOf = async (path: string, credential: Record<string, string>): Promise<number> =>
      (await node.request(path, { headers: credential }).agent(agent)).status;
    expect(await statusOf('/api/status', token)).to.equal(200);
    const limit = async (soft: number): Promise<unknown> =>
      run('prlimit', ['--pid', String(node.pid('svc-control')), `--nofile=${soft}:`]);
    await limit(3);
    await utimes(node.paths.pairing, new Date(), new Date());
    await says(node, 'pairing: the file cannot be read at the moment');
    expect(await statusOf('/api/telemetry', headers)).to.equal(200);
    expect(await statusOf('/api/telemetry', token)).to.equal(200);
    expect((await node.request('/api/pairing/info').agent(agent)).body).to.include({ paired: true });
    await limit(1024);
    expect(node.service('svc-control').restarts).to.equal(0);
    expect(await statusOf('/api/status', headers)).to.equal(200);
    agent.destroy();
    await node.stop();
  });

  it('a timer callback that throws or rejects is told once, and the process goes on', async () => {
    const told: string[] = [];
    const hear = (warning: Error): void => {
      told.push(warning.message);
    };
    process.on('warning', hear);
    const throwing = contained('a', () => {
      throw new Error('one');
    });
    throwing();
    throwing();
    contained('b', async () => Promise.reject(new Error('two')))();
    while (told.length < 2) await once(process, 'warning');
    process.off('warning', hear);
    expect(told).to.have.members(['a: one', 'b: two']);
  });
});
