import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { expect } from 'chai';
import { ArmedConfig } from '../../bin/supervisor/armed-config.ts';
import { fileSays, gonePath } from '../support/events.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** Longer than any of its times. */
const LONG_MS = 60_000;

describe('the config that is held while armed', () => {
  let dir: string;
  let path: string;
  const open = (): ArmedConfig =>
    new ArmedConfig({
      paths: { heldConfig: path },
      running: () => ({ 'svc-control': { 'radio.channel': 36 } }),
      onProblem: (sentence) => expect.fail(sentence),
    });
  beforeEach(async () => {
    dir = await tempDir();
    path = join(dir, 'held-config.json');
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(async () => {
    mock.timers.reset();
    await removeDir(dir);
  });
  const written = async (): Promise<void> => void (await fileSays(path, (text) => text.includes('36')));

  it('J6 is held over a svc-link that is killed in flight and hears nobody, until one says disarmed, and 5 s more', async () => {
    const held = open();
    held.linkRuns();
    held.told(true);
    await written();
    held.linkRuns();
    mock.timers.tick(LONG_MS);
    expect([held.holds, existsSync(path)]).to.deep.equal([true, true]);
    held.told(false);
    mock.timers.tick(4999);
    expect(held.holds).to.equal(true);
    held.told(true); // armed again meanwhile
    mock.timers.tick(LONG_MS);
    expect(held.holds).to.equal(true);
    held.told(false);
    mock.timers.tick(5000);
    expect(held.holds).to.equal(false);
    await gonePath(path);
  });

  it('J6 what a node left that ended in flight is held until its link says so, and 15 s where it hears nobody', async () => {
    const before = open();
    before.told(true);
    await written();
    const next = open();
    expect(next.holds).to.equal(true);
    next.linkRuns();
    mock.timers.tick(14_999);
    expect(next.holds).to.equal(true);
    mock.timers.tick(1);
    expect(next.holds).to.equal(false);
    await gonePath(path);
  });
});
