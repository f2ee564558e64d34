import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../shared/process/run-program.ts';
import { RpcClient } from '../../shared/rpc/rpc.ts';
import { newKeys, OTHER } from '../support/bundles.ts';
import { fileSays } from '../support/events.ts';
import { LoneHelper } from '../support/helper.ts';
import { POINTS, UpdateMachine } from '../support/update-machine.ts';

const MIN = 60_000;

describe('update', () => {
  let machine: UpdateMachine;
  beforeEach(async () => {
    machine = await UpdateMachine.start();
  });
  afterEach(async () => machine.stop());

  const written = (text: string): unknown => (JSON.parse(text) as Record<string, unknown>)['written_by'];
  const writtenBy = async (): Promise<unknown> => written(await readFile(machine.paths.setup, 'utf8'));

  /** Nothing is half, and the version that is said to run is the one that `current` names. */
  const whole = async (): Promise<void> => {
    const { places } = machine;
    const versions = await readdir(places.versions);
    expect(versions.filter((name) => name.startsWith('.'))).to.deep.equal([]);
    for (const name of versions)
      expect(existsSync(join(places.versions, name, 'bin/svc')), name).to.equal(true);
    expect(versions).to.include(await machine.running());
    for (const path of [places.trial, places.state, places.bundle])
      expect(existsSync(path), path).to.equal(false);
  };

  it('a signed bundle is installed and runs; two versions are kept; keys that it brings count for the next', async function () {
    this.timeout(2 * MIN);
    const second = newKeys();
    const first = await machine.bundle(machine.version('1.1.0', { floor: 2 }), {
      newKeys: { 'second.pub': second.publicText },
    });
    expect(await machine.update(first)).to.deep.equal({
      running: '1.1.0',
      previous: '1.0.0',
      step: 'done',
      percent: null,
      error: null,
    });
    expect(await writtenBy()).to.equal('1.1.0');
    expect(await readFile(machine.places.floor, 'utf8')).to.equal('2\n');
    expect(await readFile(join(machine.base, 'root/usr/lib/svc-test'), 'utf8')).to.equal('of 1.1.0\n');
    await whole();
    // It is the second key's now. An old bundle below the floor stays out, also for root and by every way.
    const next = await machine.bundle(machine.version('1.2.0', { floor: 2 }), { keys: second });
    expect(await machine.update(next)).to.include({ running: '1.2.0', previous: '1.1.0', step: 'done' });
    expect((await readdir(machine.places.versions)).toSorted()).to.deep.equal(['1.1.0', '1.2.0']);
    await writeFile(machine.places.job, JSON.stringify({ force: false, by_root: true }));
    const old = await machine.bundle(machine.version('1.0.5', { floor: 1 }));
    const refused = await machine.update(old);
    expect(refused).to.include({ running: '1.2.0', step: 'failed' });
    expect(refused.error).to.include('security floor 1').and.include('below 2');
    // Root may go back to an older one that is not below it.
    await writeFile(machine.places.job, JSON.stringify({ force: false, by_root: true }));
    const older = await machine.bundle(machine.version('1.0.6', { floor: 2 }));
    expect(await machine.update(older)).to.include({ running: '1.0.6', previous: '1.2.0', step: 'done' });
    await whole();
  });

  for (const [kind, damaged] of [
    ['0 bytes', ''],
    ['zeros', '\0\0\0\0'],
  ] as const)
    it(`the small files of the switch after a disk has lost them (${kind}): the version stays, and none below its floor comes`, async function () {
      this.timeout(2 * MIN);
      const { places } = machine;
      await machine.update(await machine.bundle(machine.version('1.1.0', { floor: 2 })));
      for (const file of [places.floor, places.trial, places.previous, places.returned])
        await writeFile(file, damaged);
      await writeFile(places.job, JSON.stringify({ force: false, by_root: true }));
      const old = await machine.bundle(machine.version('1.0.5', { floor: 1 }));
      const refused = await machine.update(old);
      expect(refused).to.include({ running: '1.1.0', step: 'failed' });
      expect(refused.error).to.include(places.floor);
      await machine.restart();
      expect(await readFile(places.floor, 'utf8')).to.equal('2\n');
      const next = await machine.bundle(machine.version('1.2.0', { floor: 2 }));
      expect(await machine.update(next)).to.include({ running: '1.2.0', previous: '1.1.0', step: 'done' });
      await whole();
    });

  it('a version that does not come up gives way to the one before, with its files, but not with what was revoked since', async function () {
    this.timeout(2 * MIN);
    const { paths } = machine;
    await writeFile(paths.config, 'agent:\n  name: before\nfleet:\n  operators: [old]\n');
    await writeFile(paths.mcpToken, 'before');
    // It writes its files in its own form, and somebody revokes tokens and operators; then it dies.
    const dying = await machine.bundle(
      machine.version('1.1.0', {
        program: `
import { writeFileSync } from 'node:fs';
const { SVC_ETC_DIR, SVC_STATE_DIR } = process.env;
writeFileSync(SVC_STATE_DIR + '/setup.json', JSON.stringify({ written_by: '1.1.0' }));
writeFileSync(SVC_ETC_DIR + '/config.yaml', 'agent:\\n  name: after\\nfleet:\\n  operators: []\\n');
writeFileSync(SVC_ETC_DIR + '/mcp-token.json', 'revoked');
`,
      }),
    );
    const status = await machine.update(dying);
    expect(status).to.include({ running: '1.0.0', previous: null, step: 'returned' });
    expect(status.error).to.include('Version 1.1.0 did not come up').and.include('does not answer');
    expect(await writtenBy()).to.equal('1.0.0');
    const config = await readFile(paths.config, 'utf8');
    expect(config).to.include('name: before').and.include('operators: []').and.not.include('old');
    expect(await readFile(paths.mcpToken, 'utf8')).to.equal('revoked');
    expect(await readFile(machine.places.floor, 'utf8').catch(() => 'none')).to.equal('none');
    await whole();
    // The same version again, mended.
    expect(await machine.update(await machine.bundle(machine.version('1.1.0')))).to.include({
      running: '1.1.0',
      step: 'done',
    });
    await whole();
  });

  it('what is refused changes nothing, and says what is wrong', async function () {
    this.timeout(2 * MIN);
    const good = await machine.bundle(machine.version('1.1.0'));
    const cut = await machine.bundle(machine.version('1.1.0'));
    await truncate(cut, 2000);
    for (const [file, words] of [
      [await machine.bundle(machine.version('1.1.0'), { keys: newKeys() }), 'not trusted here'],
      [await machine.bundle(machine.version('1.1.0'), { arch: OTHER }), `is for ${OTHER}`],
      [await machine.bundle(machine.version('1.0.0')), '1.0.0 runs already'],
      [await machine.bundle(machine.version('1.0.0-rc.1')), 'is older than 1.0.0'],
      [await machine.bundle(machine.version('0.9.0')), 'is older than 1.0.0'],
      [cut, 'damaged or no bundle'],
    ] as const) {
      const status = await machine.update(file);
      expect(status).to.include({ running: '1.0.0', previous: null, step: 'failed' });
      expect(status.error).to.include(words);
      await whole();
    }
    // Armed meanwhile: the node says so.
    await machine.killNode();
    process.env['TINY_ARMED'] = 'true';
    await machine.restart();
    delete process.env['TINY_ARMED'];
    expect((await machine.update(good)).error).to.include('The vehicle is armed');
    await machine.killNode();
    expect((await machine.update(good)).error).to.include('Nobody knows whether the vehicle is armed');
    await whole();
  });

  for (const point of POINTS)
    it(`killed at ${point}: the updater goes on where it was; after a power cut one whole version runs`, async function () {
      this.timeout(2 * MIN);
      await machine.upload(await machine.bundle(machine.version('1.1.0')));
      await machine.kill(await machine.hung(point));
      // systemd starts it again.
      expect(await machine.update(null)).to.include({ running: '1.1.0', previous: '1.0.0', step: 'done' });
      expect(await writtenBy()).to.equal('1.1.0');
      await whole();
      // The next one, with a power cut: everything is killed, and the machine starts.
      await machine.upload(await machine.bundle(machine.version('1.2.0')));
      await machine.kill(await machine.hung(point));
      await machine.killNode();
      await machine.restart();
      const running = await machine.running();
      const expected = {
        sync: '1.1.0',
        'to:before': '1.1.0',
        'restart:after': '1.1.0',
        'well:before': '1.1.0',
        'well:after': '1.1.0',
        'confirm:before': '1.1.0',
      };
      expect(running, point).to.equal(expected[point as keyof typeof expected] ?? '1.2.0');
      await fileSays(machine.paths.setup, (text) => written(text) === running); // its node has come up
      // svc-switch has started the updater for what is on trial.
      if (existsSync(machine.places.trial)) await machine.update(null);
      const { step, error } = await machine.status();
      expect([step, error?.slice(0, 10) ?? null], point).to.deep.equal(
        running === '1.2.0'
          ? ['done', null]
          : point === 'sync' || point === 'to:before'
            ? ['failed', 'The update']
            : ['returned', 'Version 1.'],
      );
      // Nothing that takes room is left, but for the two versions.
      await whole();
      expect((await readdir(machine.places.versions)).length, point).to.equal(2);
    });

  it('by svc-helper and by root’s svc update: both start the updater and show how it ends; one at a time', async function () {
    this.timeout(2 * MIN);
    const helper = await LoneHelper.prepare();
    try {
      expect(await helper.start(machine.env)).to.equal(null);
      const client = new RpcClient({ path: machine.paths.helperSocket, peer: 'svc-helper' });
      await client.connectOnce();
      const ask = async (method: string, params: unknown) => client.call(method, params, MIN);
      expect(await ask('update_status', {})).to.include({ running: '1.0.0', step: 'idle' });
      await machine.upload(await machine.bundle(machine.version('1.1.0')));
      await ask('update_start', { force: false });
      const busy = await ask('update_start', { force: false }).catch((error: unknown) => error);
      expect(busy).to.include({ code: 'E_BUSY' });
      await machine.comesTo('done');
      const done = { running: '1.1.0', previous: '1.0.0', step: 'done' };
      expect(await ask('update_status', {})).to.include(done);
      client.stop();
      if (process.getuid?.() !== 0) return;
      // As root on the node, also while it is down.
      await machine.killNode();
      const older = await machine.bundle(machine.version('1.0.9'));
      expect(await machine.cli('update', older, '--allow-downgrade')).to.equal('Version 1.0.9 runs.\n');
    } finally {
      await helper.stop();
    }
  });

  for (const place of ['keep', 'versions'] as const)
    it(`a full disk below ${place}: nothing is changed, and the sentence says how much is missing (needs root, to mount one)`, async function () {
      if (process.getuid?.() !== 0) return this.skip();
      this.timeout(2 * MIN);
      const { places } = machine;
      const file = await machine.bundle(machine.version('1.1.0'));
      if (place === 'versions') {
        // The folder of versions itself has to hold what runs: it moves to the small disk.
        await runProgram('mv', [places.versions, `${places.versions}.moved`], MIN);
        await mkdir(places.versions);
      }
      const mounted = places[place];
      await runProgram('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'svc-test', mounted], MIN);
      try {
        if (place === 'versions') await runProgram('cp', ['-a', `${places.versions}.moved/.`, mounted], MIN);
        const status = await machine.update(file);
        expect(status).to.include({ running: '1.0.0', step: 'failed' });
        expect(status.error).to.match(/^The disk is full: \d+ MiB are missing/);
        await whole();
      } finally {
        await runProgram('umount', [mounted], MIN);
      }
      if (place === 'versions') await runProgram('mv', ['-T', `${places.versions}.moved`, mounted], MIN);
    });

  it('killed anywhere else while it works, it ends with a whole version', async function () {
    this.timeout(2 * MIN);
    const file = await machine.bundle(machine.version('1.1.0'));
    for (const step of ['verifying', 'unpacking', 'checking'] as const) {
      if ((await machine.running()) === '1.1.0') break;
      await machine.upload(file);
      const updater = machine.spawnUpdater();
      await Promise.race([machine.comesTo(step), once(updater, 'exit')]);
      if (updater.exitCode === null) await machine.kill(updater);
    }
    expect(await machine.update(null)).to.include({ running: '1.1.0', step: 'done' });
    await whole();
  });
});
