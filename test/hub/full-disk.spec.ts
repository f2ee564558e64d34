import { execFileSync } from 'node:child_process';
import { cp, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { DiskProbe, diskProblem } from '../../bin/hub/disk.ts';
import { newSigningKey } from '../../shared/fleet/signed.ts';
import { topics } from '../../shared/fleet/topics.ts';
import { askAgain } from '../support/ask-again.ts';
import { heard, TestHub } from '../support/hub.ts';
import { Databases } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const missing = noMosquitto() ?? (process.getuid?.() === 0 ? null : 'needs root to mount a small disk');
const FULL = /^The hub's disk is full\./;
/** Of DiskProbe. */
const GOOD_MS = 2000;

describe(`a hub on a full disk${missing === null ? '' : ` (${missing})`}`, () => {
  let hub: TestHub;
  before(async function () {
    if (missing !== null) this.skip();
    hub = await TestHub.init();
    const aside = join(await tempDir(), 'hub');
    await cp(hub.folder, aside, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', hub.folder]);
    await cp(aside, hub.folder, { recursive: true });
    await rm(join(aside, '..'), { recursive: true });
    await hub.serve();
  });
  after(async () => {
    if (hub === undefined) return;
    await hub.kill('SIGTERM');
    execFileSync('umount', ['-l', hub.folder]);
    await hub.stop();
  });

  const health = async () => (await hub.call('GET', '/v1/health', { credential: null })).body;
  /** The hub looks at its disk when somebody asks, and keeps the answer for a while. */
  const healthThatSays = async (disk: boolean): Promise<Readonly<Record<string, unknown>>> =>
    askAgain(`the hub says disk: ${disk}`, health, (said) => said['disk'] === disk, 2 * GOOD_MS);

  it('says so in its health and in its answers, acknowledges nothing, and goes on when there is room', async () => {
    const node = await hub.enroll('patient');
    const credential = String(
      (await hub.call('POST', '/v1/credentials', { body: { label: 'c', scopes: ['read'], nodes: null } }))
        .body['credential'],
    );
    expect(await health()).to.include({ ok: true, disk: true, problem: null });
    const filler = join(hub.folder, 'filler');
    const full = await writeFile(filler, Buffer.alloc(16 * 1024 * 1024)).catch((error: unknown) => error);
    expect(diskProblem(full)).to.match(FULL);

    const said = await healthThatSays(false);
    expect(said).to.include({ ok: false, broker: true, disk: false });
    expect(said['problem']).to.match(FULL);
    const code = await hub.call('POST', '/v1/codes');
    expect(code.status).to.equal(503); // the audit or the database, whichever is full first
    expect(code.body['detail']).to.match(FULL);
    const session = await hub.session(credential, newSigningKey());
    expect(session.status).to.equal(503);
    expect(session.body['detail']).to.match(FULL);

    const client = await hub.connect(node);
    const { fleet } = node.enrolled;
    const event = { stream: 's', seq: 1, at: 1, kind: 'vehicle.armed', detail: { wide: 'x'.repeat(60_000) } };
    const acknowledged = heard(client, topics.ack(fleet, node.id));
    await client.publishAsync(topics.told(fleet, node.id, 'event'), JSON.stringify(event), { qos: 1 });
    await hub.logged('database or disk is full');

    await rm(filler);
    expect(await healthThatSays(true)).to.include({ ok: true, disk: true, problem: null });
    await client.publishAsync(topics.told(fleet, node.id, 'event'), JSON.stringify(event), { qos: 1 });
    await acknowledged;
    expect((await hub.call('POST', '/v1/codes')).status).to.equal(201);
    await client.endAsync();
  });
});

describe('what tells whether the disk takes what is stored', () => {
  it('writes once in half a minute however often it is asked, and at once while something is wrong', async () => {
    const [databases, folder] = await Promise.all([Databases.of('sqlite'), tempDir()]);
    const database = await databases.open();
    let now = 1000;
    const probe = new DiskProbe(database.queries, folder, () => now);
    const writes = new Set<number>();
    const asked = async (ms: number): Promise<string | null> => {
      now += ms;
      const problem = await probe.problem();
      const { ino } = await stat(join(folder, 'health')).catch(() => ({ ino: 0 }));
      writes.add(ino);
      return problem;
    };
    try {
      for (let times = 0; times < 12; times++) expect(await asked(2100)).to.equal(null);
      expect(writes.size).to.equal(1);
      expect(await asked(10_000)).to.equal(null);
      expect(writes.size).to.equal(2);
      await rm(folder, { recursive: true });
      expect(await asked(2100)).to.be.a('string');
      await mkdir(folder);
      expect(await asked(2100), 'a write has shown it').to.equal(null);
      expect(await stat(join(folder, 'health'))).to.have.property('size', 64 * 1024);
    } finally {
      await database.close();
      await databases.end();
      await removeDir(folder);
    }
  });
});
