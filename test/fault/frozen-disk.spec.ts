import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { verifyAudit } from '../../front/control/stores/audit-files.ts';
import { parse } from '../../shared/audit/chain.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { FreezableDisk } from '../support/freezable-disk.ts';
import { describeWith } from '../support/needs.ts';
import { TestNode } from '../support/node.ts';
import { sendRow } from '../support/send-row.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** Commands that take energy out of a vehicle. */
const ENDING = [
  { cmd: 'rtl' },
  { cmd: 'stop' },
  { cmd: 'land' },
  { cmd: 'disarm' },
  { cmd: 'killSwitch', args: ['KILL'] },
] as const;
const NAMED_MS = 5000;
/** A watchdog would have killed a process that hung. */
const FROZEN_MS = 20_000;
/** For all rows at once, on a machine with other work. What waits for the disk itself has 3 s. */
const ANSWER_MS = 15_000;
/** What no row may say: that its process has failed, or gave no answer. */
const FAILED: readonly number[] = [500, 502, 504];
const PIN = '482916';
const HELD = 'has taken nothing for';

const headers = { 'x-svc-key': KEY };

describeWith(
  'root',
  'fsfreeze',
  'mkfs.ext4',
  'loop',
)('a disk that stands still under a node', function () {
  this.timeout(120_000);
  let folder: string;
  let disk: FreezableDisk;
  let node: TestNode;

  before(async () => {
    folder = await tempDir();
    disk = new FreezableDisk(folder);
    node = await TestNode.start({
      pairing: { key: KEY },
      prepare: async ({ etc, state }) => {
        disk.hold('etc', etc);
        disk.hold('state', state);
      },
    });
    await node.knowsArmed();
    expect((await node.post('/api/dashboard/pin/set', { pin: PIN }, headers)).status).to.equal(200);
  });
  afterEach(() => disk.thaw());
  after(async () => {
    await node.stop({ keep: true });
    disk.remove();
    await removeDir(node.base);
    await removeDir(folder);
  });

  const command = async (body: { readonly cmd: string; readonly args?: readonly string[] }) => {
    const began = performance.now();
    const answer = await node.post('/api/command', body, headers);
    return { ...answer, ms: performance.now() - began };
  };
  const problems = async (): Promise<string> =>
    JSON.stringify((await node.json('/api/status', { headers })).body['health']);
  const isNamed = async (): Promise<void> => {
    await askAgain('the disk is named', problems, (text) => text.includes(HELD));
  };
  const isOver = async (): Promise<void> => {
    await askAgain('the disk takes it again', problems, (text) => !text.includes(HELD));
  };
  const restarts = () => node.services.map(({ name, restarts: count }) => [name, count]);
  const isWhole = async (): Promise<void> => {
    expect((await node.json('/api/audit/verify', { headers })).body['ok']).to.equal(true);
    expect(verifyAudit(node.paths).every(({ ok }) => ok)).to.equal(true);
  };

  it('stops nobody from landing, is named, refuses in a second what must be written first, and every row answers', async () => {
    const before = restarts();
    disk.freeze();
    const since = performance.now();
    await isNamed();
    expect(performance.now() - since, 'until it is named').to.be.lessThan(NAMED_MS);
    const ready = await node.json('/readyz');
    expect([ready.status, (ready.body['checks'] as Record<string, boolean>)['disk']]).to.deep.equal([
      503,
      false,
    ]);
    for (const each of ENDING) {
      const { status, body, ms } = await command(each);
      expect([status, body['status']], each.cmd).to.deep.equal([200, 'accepted']);
      expect(ms, each.cmd).to.be.lessThan(1000);
    }
    const refused = await command({ cmd: 'arm' });
    expect([refused.status, refused.body['code']]).to.deep.equal([503, 'E_AUDIT']);
    expect(refused.body['detail']).to.include(HELD);
    expect(refused.ms, 'arm').to.be.lessThan(1500);

    const wrong: unknown[] = [];
    const ask = async (row: (typeof ROWS)[number]): Promise<void> => {
      const began = performance.now();
      const bound = new AbortController();
      const status = await Promise.race([
        sendRow(node.port, row, headers).then((answer) => answer.status, String),
        delay(ANSWER_MS, 'no answer', { signal: bound.signal }).catch(() => ''),
      ]);
      bound.abort();
      if (typeof status === 'string' || FAILED.includes(status))
        wrong.push([row.id, status, Math.round(performance.now() - began)]);
    };
    const signIn = node.post('/api/dashboard/pin/verify', { pin: PIN });
    await Promise.all(ROWS.filter(({ scope }) => scope !== 'inner').map(ask));
    expect(wrong).to.deep.equal([]);
    const signedIn = await signIn;
    expect([signedIn.status, signedIn.body['code']], 'a sign-in, which is kept').to.deep.equal([
      504,
      'E_TIMEOUT',
    ]);
    expect(signedIn.body['detail']).to.include(HELD);

    await delay(Math.max(0, FROZEN_MS - (performance.now() - since)));
    const landed = await command({ cmd: 'land' });
    expect([landed.status, landed.ms < 1000], 'after 20 s').to.deep.equal([200, true]);
    expect(restarts()).to.deep.equal(before);
    disk.thaw();
    await isOver();
    const mode = await command({ cmd: 'mode', args: ['LOITER'] });
    expect(mode.status, JSON.stringify(mode)).to.equal(200);
    await isWhole();
    const written = readFileSync(join(node.paths.auditDir, 'audit.ndjson'), 'utf8')
      .split('\n')
      .flatMap((line) => parse(line) ?? []);
    for (const { cmd } of [...ENDING, { cmd: 'arm' }])
      expect(
        written.filter(({ changed }) => changed?.startsWith(cmd) === true).map(({ outcome }) => outcome),
        cmd,
      ).to.include.members(['announced', cmd === 'arm' ? 'E_AUDIT' : 'done']);
  });

  it('processes that are killed meanwhile come back, and no chain and no store is broken', async () => {
    const killed = ['svc-control', 'svc-residual'] as const;
    const before = new Map(killed.map((name) => [name, node.service(name).restarts]));
    disk.freeze();
    await isNamed();
    expect((await command({ cmd: 'land' })).status).to.equal(200);
    for (const name of killed) process.kill(node.pid(name), 'SIGKILL');
    disk.thaw(); // until then the kernel lets nobody end who waits for it
    await node.until(() =>
      killed.every((name) => {
        const { state, restarts: count } = node.service(name);
        return state === 'running' && count > (before.get(name) ?? 0);
      }),
    );
    expect((await command({ cmd: 'land' })).status).to.equal(200);
    await isOver();
    await isWhole();
    await askAgain(
      'both processes are in the log',
      async () => node.json('/api/logs?service=svc-control&text=listening', { headers }),
      ({ status, body }) => status === 200 && Number(body['total']) >= 2,
    );
    expect(node.stderr).to.not.include('set aside');
  });
});
