import { once } from 'node:events';
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { ROOT, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const KEY = 'svc_the-key-of-a-clock-that-is-set';
const [FAKETIME] = globSync('/usr/lib/*/faketime/libfaketime.so.1');

/** The clock of the machine is set while people and programs use the node, and again before svc-control starts anew. */
(FAKETIME === undefined ? describe.skip : describe)('the clock of a node is set in use', function () {
  this.timeout(120_000);
  for (const [name, offset] of [
    ['92 days ahead', '+92d'],
    ['ten years back', '-10y'],
  ] as const)
    it(`${name}: no session, token or socket ends, and none does over a restart`, async () => {
      const folder = await tempDir();
      const clock = join(folder, 'clock');
      await writeFile(clock, '+0\n');
      const node = await TestNode.start({
        pairing: { key: KEY },
        config: 'mcp:\n  token_accept_enabled: true\n',
        env: {
          NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compile'),
          LD_PRELOAD: String(FAKETIME),
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          NO_FAKE_STAT: '1',
        },
      });
      const keyed = { 'x-svc-key': KEY };
      expect((await node.post('/api/dashboard/pin/set', { pin: '246810' }, keyed)).status).to.equal(200);
      const { body: opened } = await node.post('/api/dashboard/pin/verify', { pin: '246810' });
      const { body: minted } = await node.post('/api/mcp/tokens', { scopes: ['read'], label: 'x' }, keyed);
      const sessioned = { 'x-svc-dashboard-session': String(opened['session']) };
      const callers = [sessioned, { 'x-svc-mcp-token': String(minted['token']) }];
      const statuses = async (): Promise<readonly number[]> =>
        Promise.all(callers.map(async (headers) => (await node.json('/api/telemetry', { headers })).status));
      expect(await statuses()).to.deep.equal([200, 200]);
      const sockets: WebSocket[] = [];
      const closed: string[] = [];
      for (const [path, scope] of [
        ['/api/telemetry/ws', 'telemetry'],
        ['/api/manual/ws', 'manual'],
      ] as const) {
        const { body } = await node.post('/api/_ws/ticket', { scope }, sessioned);
        const socket = new WebSocket(node.url.replace('http', 'ws') + path, [
          'svc-ws-ticket',
          String(body['ticket']),
        ]);
        socket.on('close', (code) => closed.push(`${path} ${code}`));
        await once(socket, 'open');
        sockets.push(socket);
      }
      await writeFile(clock, `${offset}\n`);
      const year = async (): Promise<number> => {
        const { body } = await node.json('/api/time', { headers: keyed });
        return new Date(Number(body['time_ns']) / 1e6).getTime();
      };
      while (Math.abs((await year()) - Date.now()) < 86_400_000) await delay(100);
      await delay(2500); // the watch of open sockets looks every second
      expect(closed).to.deep.equal([]);
      expect(await statuses()).to.deep.equal([200, 200]);
      for (const socket of sockets) socket.terminate();
      await node.post('/api/services/svc-control/restart', {}, keyed).catch(() => undefined);
      await node.until((services) =>
        services.some(({ name: each, state }) => each === 'svc-control' && state !== 'running'),
      );
      await node.until((services) => services.every(({ state }) => state === 'running'));
      await writeFile(clock, '+0\n');
      while (Math.abs((await year()) - Date.now()) > 86_400_000) await delay(100);
      expect(await statuses(), 'after a restart, and the clock set right').to.deep.equal([200, 200]);
      await node.stop();
      await removeDir(folder);
    });
});
