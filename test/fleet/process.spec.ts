import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FleetEvent } from '../../shared/fleet/told.ts';
import type { ToChild } from '../../shared/process/child.ts';
import { askAgain } from '../support/ask-again.ts';
import { FreezableDisk } from '../support/freezable-disk.ts';
import { needs } from '../support/needs.ts';
import { programOf } from '../support/program.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { FakeLink, linkState, NODE, Rig } from './rig.ts';

/** svc-fleet itself, between a broker, and stand-ins for svc-control and svc-link. */
describe('svc-fleet', function () {
  this.timeout(60_000);
  let rig: Rig;
  let link: FakeLink;
  let child: ChildProcess;
  let stderr = '';

  before(function () {
    needs(this, 'mosquitto');
  });
  beforeEach(async () => {
    rig = await Rig.start();
    link = new FakeLink(join(rig.folder, 'link.sock'));
    await link.start();
    stderr = '';
  });
  afterEach(async () => {
    await kill('SIGKILL');
    await link.stop();
    await rig.stop();
  });

  function run(state = rig.folder): void {
    const { folder } = rig;
    const args = ['--telemetry-hz', '5', '--telemetry-fields', 'mode', '--queue-mb', '1'];
    child = spawn(process.execPath, [programOf('front/fleet/main'), ...args], {
      env: { ...process.env, SVC_RUN_DIR: folder, SVC_ETC_DIR: folder, SVC_STATE_DIR: state },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    // As the supervisor does: every process is of one start of the node.
    const init: ToChild = { type: 'init', secret: '', nodeStartedAt: 100 };
    child.send(init);
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
  }

  async function kill(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  const presence = (): Record<string, unknown> | undefined => rig.hub.told('presence').at(-1);

  it('is told by the broker to be gone when it dies, and comes back with the same queue', async () => {
    rig.control.place = rig.place;
    run();
    await rig.hub.until(() => presence()?.['online'] === true);
    await rig.hub.until(() => rig.hub.stored.some(({ kind }) => kind === 'vehicle.mode'));
    const { stream } = rig.hub.stored[0] as FleetEvent;
    const session = presence()?.['session'];
    await kill('SIGKILL');
    await rig.hub.until(() => presence()?.['online'] === false);
    expect(presence()?.['session']).to.equal(session);
    run();
    await rig.hub.until(() => presence()?.['online'] === true);
    link.tell(linkState({ armed: true }));
    await rig.hub.until(() => rig.hub.stored.some(({ kind }) => kind === 'vehicle.armed'));
    // Telemetry is kept where the connection takes its time.
    const kinds = rig.hub.stored.map(({ kind }) => kind).filter((kind) => kind !== 'telemetry');
    expect(kinds).to.deep.equal(['node.started', 'vehicle.connected', 'vehicle.mode', 'vehicle.armed']);
    expect(new Set(rig.hub.stored.map((each) => each.stream))).to.deep.equal(new Set([stream]));
    await rig.hub.until(() => rig.hub.told('telemetry').length > 0);
    expect(rig.hub.told('telemetry')[0]).to.deep.equal({ mode: 'GUIDED' });
  });

  it('tells the flights that were written down, one after the other, also those of a time without the hub', async () => {
    const flights = join(rig.folder, 'flights');
    await mkdir(flights);
    const track = Array.from({ length: 1500 }, (_, s) => [s, 47.123456, 8.123456, 100]);
    for (let n = 10; n < 30; n++)
      await writeFile(
        join(flights, `20260101T0000${n}.000Z-1.json`),
        JSON.stringify({ flight: `20260101T0000${n}.000Z-1`, ended_at: n, track }),
      );
    await writeFile(join(flights, '0-torn.json'), '{"flight":');
    await writeFile(join(flights, '1-large.json'), JSON.stringify({ ended_at: 1, wide: 'x'.repeat(70_000) }));
    rig.control.place = rig.place;
    run(); // its queue takes 1 MB, which is less than these flights
    const told = (): readonly FleetEvent[] => rig.hub.stored.filter(({ kind }) => kind === 'flight');
    await rig.hub.until(() => told().length >= 5);
    await kill('SIGKILL');
    run();
    await rig.hub.until(() => new Set(told().map(({ detail }) => detail['flight'])).size === 20);
    await askAgain(
      'the files are gone',
      async () => readdir(flights),
      (names) => names.length === 0,
    );
    expect(told().length).to.be.within(20, 21);
    expect(told()[0]?.at).to.equal(10);
  });

  it('goes on telling while the disk of its queue stands still, and then tells the events that came meanwhile', async function () {
    needs(this, 'root', 'loop', 'fsfreeze', 'mkfs.ext4');
    const folder = await tempDir();
    const disk = new FreezableDisk(folder);
    try {
      const state = join(folder, 'state');
      disk.hold('state', state);
      rig.control.place = rig.place;
      run(state);
      await rig.hub.until(() => rig.hub.stored.some(({ kind }) => kind === 'vehicle.mode'));
      disk.freeze();
      link.tell(linkState({ armed: true }));
      const told = (): number => rig.hub.told('telemetry').length;
      const before = told();
      await rig.hub.until(() => told() >= before + 10); // two seconds of them
      link.tell(linkState({ armed: false }));
      expect(rig.hub.stored.some(({ kind }) => kind === 'vehicle.armed')).to.equal(false);
      disk.thaw();
      await rig.hub.until(() => rig.hub.stored.some(({ kind }) => kind === 'vehicle.disarmed'));
      expect(rig.hub.stored.map(({ kind }) => kind)).to.deep.equal([
        'node.started',
        'vehicle.connected',
        'vehicle.mode',
        'vehicle.armed',
        'vehicle.disarmed',
      ]);
      await kill('SIGKILL');
    } finally {
      disk.remove();
      await removeDir(folder);
    }
  });

  it('loses no event, whenever it is killed', async () => {
    rig.control.place = rig.place;
    const modes: string[] = [];
    for (let round = 0; round < 4; round++) {
      run();
      await rig.hub.until(() => presence()?.['online'] === true);
      const mode = `MODE${round}`;
      modes.push(mode);
      link.tell(linkState({ mode }));
      // It has the event on disk, wherever the message and its acknowledgement are.
      await rig.hub.until(() => rig.hub.stored.some(({ detail }) => detail['mode'] === mode));
      await kill('SIGKILL');
      await rig.hub.until(() => presence()?.['online'] === false);
    }
    const told = rig.hub.stored
      .filter(({ kind }) => kind === 'vehicle.mode')
      .map(({ detail }) => detail['mode']);
    expect(told.filter((mode) => mode !== 'GUIDED')).to.deep.equal(modes);
    const numbers = rig.hub.stored.map(({ seq }) => seq);
    expect(numbers).to.deep.equal(numbers.toSorted((a, b) => a - b));
  });

  it('is idle until the node is enrolled, and says goodbye when it leaves or stops', async () => {
    run();
    rig.control.enter(rig.place);
    rig.control.place = rig.place;
    await rig.hub.until(() => presence()?.['online'] === true);
    rig.control.enter(null);
    await rig.hub.until(() => presence()?.['online'] === false);
    const [last] = rig.hub.heard.slice(-1);
    expect(last?.topic).to.equal(`svc/1/f-test/${NODE}/presence`);
    rig.control.enter(rig.place);
    await rig.hub.until(() => presence()?.['online'] === true);
    await kill('SIGTERM');
    expect(child.exitCode).to.equal(0);
    await rig.hub.until(() => presence()?.['online'] === false);
    expect(stderr.split('\n').filter((line) => line.includes('"level":"error"'))).to.deep.equal([]);
  });
});
