import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { LivedTime } from '../../front/control/stores/lived-time.ts';
import { silentLog } from '../support/pin-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const DAY_MS = 86_400_000;
const YEARS_MS = 3650 * DAY_MS;

describe('the time that a node has lived', () => {
  let dir: string;
  let file: string;
  let lived: LivedTime;
  const machine = { boot: 'a', uptimeMs: 1000, wallMs: Date.UTC(2026, 5, 1), isSynchronized: false };
  beforeEach(async () => {
    dir = await tempDir();
    file = join(dir, 'lived-time.json');
    Object.assign(machine, {
      boot: 'a',
      uptimeMs: 1000,
      wallMs: Date.UTC(2026, 5, 1),
      isSynchronized: false,
    });
    lived = await open();
  });
  afterEach(async () => {
    await lived.stop();
    await removeDir(dir);
  });

  async function open(): Promise<LivedTime> {
    const next = new LivedTime({
      file,
      monotonic: () => machine.uptimeMs,
      boot: () => ({ boot_id: machine.boot, uptime: machine.uptimeMs / 1000 }),
      now: () => machine.wallMs,
      isSynchronized: () => machine.isSynchronized,
      log: silentLog,
    });
    await next.start();
    return next;
  }
  const pass = (ms: number): void => {
    machine.uptimeMs += ms;
    machine.wallMs += ms;
  };
  /** The machine is off for so long; its clock then says another time by `stepMs` too. */
  const reboot = (offMs: number, stepMs: number, isSynchronized: boolean): void =>
    void Object.assign(machine, {
      boot: `${machine.boot}+`,
      uptimeMs: 0,
      wallMs: machine.wallMs + offMs + stepMs,
      isSynchronized,
    });

  for (const stepMs of [DAY_MS, -DAY_MS, YEARS_MS, -YEARS_MS]) {
    it(`a clock that is set by ${stepMs / DAY_MS} days changes nothing, in a run, over a restart, over a boot`, async () => {
      const { id } = lived;
      const from = lived.now();
      pass(DAY_MS);
      machine.wallMs += stepMs;
      expect(lived.now() - from).to.equal(DAY_MS);
      await lived.stop();
      pass(3600_000); // the process is away, the machine is not
      lived = await open();
      expect([lived.id, lived.now() - from]).to.deep.equal([id, DAY_MS + 3600_000]);
      await lived.stop();
      reboot(0, -stepMs, false);
      pass(60_000);
      lived = await open();
      expect([lived.id, lived.now() - from]).to.deep.equal([id, DAY_MS + 3660_000]);
    });
  }

  it('the time that the machine was off counts where a time server confirmed the clock before and after, once', async () => {
    machine.isSynchronized = true;
    const from = lived.now();
    await lived.stop();
    reboot(10 * DAY_MS, -YEARS_MS, false);
    lived = await open();
    expect(lived.now() - from, 'not known yet').to.equal(0);
    pass(60_000);
    await lived.stop();
    lived = await open();
    machine.wallMs += YEARS_MS;
    machine.isSynchronized = true;
    await lived.stop();
    expect(lived.now() - from).to.equal(10 * DAY_MS + 60_000);
    machine.wallMs += YEARS_MS;
    await lived.stop();
    lived = await open();
    expect(lived.now() - from, 'set by hand afterwards').to.equal(10 * DAY_MS + 60_000);
  });

  it('what is believed for the age of things goes no faster than what is lived, also over a restart', async () => {
    const from = lived.believed();
    machine.wallMs += YEARS_MS;
    pass(DAY_MS);
    expect(lived.believed() - from).to.equal(DAY_MS);
    await lived.stop();
    lived = await open();
    expect(lived.believed() - from).to.equal(DAY_MS);
    machine.wallMs -= YEARS_MS;
    expect(lived.believed() - from, 'set right').to.equal(DAY_MS);
    machine.wallMs -= YEARS_MS;
    expect(lived.believed(), 'behind').to.equal(machine.wallMs);
  });

  it('never goes back: after a power cut, and with a confirmed clock that says less', async () => {
    machine.isSynchronized = true;
    await lived.stop();
    const before = lived.now();
    reboot(-YEARS_MS, 0, true);
    lived = await open();
    expect(lived.now()).to.equal(before);
  });

  it('a damaged file is kept aside, and another life begins', async () => {
    const { id } = lived;
    const good = await readFile(file, 'utf8');
    await lived.stop();
    const cuts = Array.from({ length: good.trimEnd().length }, (_, index) => good.slice(0, index));
    for (const damaged of [...cuts, '\0'.repeat(good.length), 'null', '[]', '7', '"x"', '{}']) {
      await writeFile(file, damaged, { mode: 0o600 });
      const next = await open();
      await next.stop();
      expect(next.id, JSON.stringify(damaged)).to.not.equal(id);
      expect(await readFile(`${file}.broken`, 'utf8')).to.equal(damaged);
    }
    expect(await readdir(dir)).to.have.length(2);
  });
});
