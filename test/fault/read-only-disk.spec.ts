import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ROWS } from '../../shared/routes/table.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { FreezableDisk } from '../support/freezable-disk.ts';
import { describeWith } from '../support/needs.ts';
import { TestNode } from '../support/node.ts';
import { sendRow } from '../support/send-row.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const NAMED_MS = 5000;
const ANSWER_MS = 15_000;
const headers = { 'x-svc-key': KEY };

describeWith(
  'root',
  'mkfs.ext4',
  'loop',
)('a card that becomes read-only under a node', function () {
  this.timeout(120_000);
  let folder: string;
  let disk: FreezableDisk;
  let node: TestNode;
  before(async () => {
    folder = await tempDir();
    disk = new FreezableDisk(folder, 800); // svc-link wants room for a log
    node = await TestNode.start({
      pairing: { key: KEY },
      prepare: async ({ etc, state, flightLogs }) => {
        await mkdir(flightLogs, { recursive: true });
        disk.hold('etc', etc);
        disk.hold('state', state);
      },
    });
    await node.knowsArmed();
  });
  after(async () => {
    await node?.stop({ keep: true });
    disk?.remove();
    if (node !== undefined) await removeDir(node.base);
    await removeDir(folder);
  });

  it('is named within 5 s, keeps nobody from landing, and no row speaks of a full disk or fails without a reason', async () => {
    disk.breakDown();
    const since = performance.now();
    const health = await askAgain(
      'the card is named',
      async () => JSON.stringify((await node.json('/api/status', { headers })).body['health']),
      (text) => text.includes('read-only (EROFS)'),
    );
    expect(performance.now() - since).to.be.below(NAMED_MS);
    expect(health).to.include('"part":"disk","severity":"bad"').and.include('replace the card');
    const ready = await node.json('/readyz');
    expect([ready.status, (ready.body['checks'] as Record<string, boolean>)['disk']]).to.deep.equal([
      503,
      false,
    ]);
    for (const cmd of ['rtl', 'stop', 'land', 'disarm'])
      expect((await node.post('/api/command', { cmd }, headers)).body['status'], cmd).to.equal('accepted');
    const refused = await node.post('/api/command', { cmd: 'arm' }, headers);
    expect([refused.status, refused.body['code']]).to.deep.equal([503, 'E_AUDIT']);
    expect(refused.body['detail']).to.include('read-only (EROFS)').and.include('replace the card');

    const pin = await node.post('/api/dashboard/pin/set', { pin: '482916' }, headers);
    expect([pin.status, pin.body['code']]).to.deep.equal([503, 'E_STORE']);
    expect(pin.body['detail']).to.include('read-only (EROFS)');
    const log = await node.json('/api/flight-logs/1', { headers });
    expect([log.status, log.body['code']]).to.deep.equal([503, 'E_STORE']);
    expect(String(log.body['detail'])).to.match(/read-only \(EROFS\)/, JSON.stringify(log.body));

    const wrong: unknown[] = [];
    const ask = async (row: (typeof ROWS)[number]): Promise<void> => {
      const answer = await Promise.race([
        sendRow(node.port, row, headers),
        delay(ANSWER_MS, null, { ref: false }),
      ]);
      const body = JSON.stringify(answer?.body ?? 'no answer');
      const { status = 500 } = answer ?? {};
      if (status === 500 || (status > 500 && /disk is full|disk space/i.test(body)))
        wrong.push([row.id, answer?.status, body.slice(0, 200)]);
    };
    for (const row of ROWS.filter(({ scope }) => scope !== 'inner')) await ask(row);
    expect(wrong).to.deep.equal([]);
  });
});
