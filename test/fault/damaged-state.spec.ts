import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { listOf, memberOf } from '../../shared/member.ts';
import { askInside } from '../support/nat-node.ts';
import { TestNode } from '../support/node.ts';
import { logInto, STORES } from '../support/state-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** Every cut of a short file, 60 of a long one; as a power cut and a worn card leave it. */
function damagesOf(good: string): readonly string[] {
  const { length } = good.trimEnd();
  const step = length < 300 ? 1 : length / 60;
  const cuts = Array.from({ length: Math.floor((length - 1) / step) }, (_, at) =>
    good.slice(0, 1 + Math.floor(at * step)),
  );
  return ['', '\0'.repeat(good.length), ...cuts, 'null', '[]', '7', '"x"', '{}'];
}

describe('a file of state that a power cut has emptied, zeroed or cut, or that is of another type', () => {
  for (const { name, file, make, look, valid = [] } of STORES)
    it(`${name} (${file}): closed, said with its name, and nothing takes its place`, async function () {
      this.timeout(60_000);
      const dir = await tempDir();
      const path = join(dir, file);
      await mkdir(dirname(path), { recursive: true });
      await make(path);
      const good = await readFile(path, 'utf8');
      for (const damaged of damagesOf(good)) {
        if (valid.includes(damaged)) continue;
        await rm(`${path}.broken`, { force: true });
        await writeFile(path, damaged, { mode: 0o600 });
        const lines: string[] = [];
        const { closed, said } = await look(path, logInto(lines), () => lines.join('\n'));
        const shown = `${JSON.stringify(damaged.slice(0, 80))}: ${said}`;
        expect(closed, `closed, ${shown}`).to.equal(true);
        expect(said, `said, ${shown}`).to.include(path);
        const kept = await Promise.all(
          [path, `${path}.broken`].map(async (each) => readFile(each, 'utf8').catch(() => null)),
        );
        expect(kept, `kept, ${shown}`).to.include(damaged);
      }
      expect((await readdir(dirname(path))).filter((each) => each.endsWith('.tmp'))).to.deep.equal([]);
      await removeDir(dir);
    });
});

describe('a node whose files of rights are damaged', () => {
  for (const [name, damage] of [
    ['0 bytes', () => ''],
    ['zeros', (good: string) => '\0'.repeat(good.length)],
    ['half of them', (good: string) => good.slice(0, good.length / 2)],
  ] as const)
    it(`${name}: it starts, is nobody's, and its status names each`, async function () {
      this.timeout(120_000);
      const good = '{"paired":true,"api_key":"svc_the-key-of-the-test","owner_id":"me","paired_at":1}\n';
      const node = await TestNode.start({
        prepare: async (paths) => {
          for (const folder of [paths.etc, paths.state]) await mkdir(folder, { recursive: true });
          for (const file of [paths.pairing, paths.dashboardPin, paths.mcpToken, paths.sessions])
            await writeFile(file, damage(good), { mode: 0o600 });
        },
      });
      const { pairing, dashboardPin, mcpToken, sessions } = node.paths;
      expect((await node.post('/api/pairing/claim', { user_id: 'thief' })).status).to.equal(409);
      expect((await node.post('/api/dashboard/pin/verify', { pin: '1111' })).status).to.equal(503);
      for (const header of ['x-svc-key', 'x-svc-dashboard-session', 'x-svc-mcp-token'])
        expect(
          (await node.json('/api/telemetry', { headers: { [header]: 'svc_the-key-of-the-test' } })).status,
          header,
        ).to.equal(401);
      const status = await askInside(node, '/api/status');
      const state = listOf(memberOf(status['health'], 'problems'))
        .filter((problem) => memberOf(problem, 'part') === 'state')
        .map((problem) => String(memberOf(problem, 'detail')));
      for (const file of [pairing, dashboardPin, mcpToken, sessions])
        expect(state.join('\n'), file).to.include(file);
      for (const file of [pairing, dashboardPin, mcpToken])
        expect(await readFile(file, 'utf8'), 'left as it is').to.equal(damage(good));
      expect(await readFile(`${sessions}.broken`, 'utf8')).to.equal(damage(good));
      await node.stop();
    });
});
