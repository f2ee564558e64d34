import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { common } from 'node-mavlink';
import { TlogStore } from '../../front/link/tlog/tlog-store.ts';
import { needs } from '../support/needs.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { commandAck } from './mavlink-samples.ts';
import { Rig, type RigOptions } from './rig.ts';

const EPOCH = Date.UTC(2026, 0, 1);
const [HEARTBEAT, ATTITUDE, COMMAND_LONG, SETUP_SIGNING] = [0, 30, 76, 256];

interface Record {
  /** ms since 1970 */
  readonly at: number;
  readonly id: number;
  readonly component: number;
}

/** Reads a log as its format says; a tail that is cut off is left out. */
function recordsOf(bytes: Buffer): readonly Record[] {
  const records: Record[] = [];
  for (let at = 0; at + 8 + 12 <= bytes.length; ) {
    expect(bytes[at + 8], `at ${at}`).to.equal(0xfd);
    const length = (bytes[at + 9] ?? 0) + 12;
    records.push({
      at: Number(bytes.readBigUInt64BE(at)) / 1000,
      id: bytes.readUIntLE(at + 8 + 7, 3),
      component: bytes[at + 8 + 6] ?? 0,
    });
    at += 8 + length;
  }
  return records;
}

describe('telemetry logs', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await tempDir();
  });
  afterEach(async () => removeDir(folder));

  const met = async (
    when: 'armed' | 'always' | 'off',
    store: Pick<TlogStore, 'create'> = new TlogStore(folder, 512),
    options: RigOptions = {},
  ): Promise<Rig> => Rig.met({ ...options, tlog: { store, when } });
  const files = async (): Promise<readonly string[]> => (await readdir(folder)).toSorted();
  const read = async (name: string): Promise<readonly Record[]> =>
    recordsOf(await readFile(join(folder, name)));
  const arm = async (rig: Rig): Promise<void> => {
    rig.onSent = ({ id, fields }) => {
      if (id !== COMMAND_LONG || fields['command'] !== 400) return;
      rig.armed = true;
      rig.say(commandAck(400, 0, 1));
    };
    await rig.command('arm');
    rig.onSent = () => undefined;
  };

  it('begin with the arming command, have both ways, and end a minute after disarming', async () => {
    const rig = await met('armed');
    await rig.live(3000);
    expect(await files()).to.deep.equal([]);
    await arm(rig);
    rig.say(
      Object.assign(new common.SetupSigning(), { targetSystem: 1, secretKey: [...Buffer.alloc(32, 7)] }),
    );
    const { send, encoder } = rig.link.parts;
    send(encoder.setupSigning(Buffer.alloc(42, 7), null));
    await rig.live(5000);
    expect(rig.sent.filter(({ id }) => id === SETUP_SIGNING)).to.have.length(1);
    rig.armed = false;
    await rig.live(70_000);
    await rig.link.stop();
    expect(rig.state().tlog).to.deep.equal({ name: null, dropped: 0, problem: null });
    const [name = '', ...others] = await files();
    expect(others).to.deep.equal([]);
    expect(name).to.match(/^20260101T0000\d\d\.\d{3}Z\.tlog$/);
    const records = await read(name);
    expect(records[0]).to.include({ id: COMMAND_LONG, component: 191 });
    expect(new Set(records.map(({ component }) => component))).to.deep.equal(new Set([1, 191]));
    expect(records.map(({ id }) => id)).to.not.include(SETUP_SIGNING);
    const times = records.map(({ at }) => at);
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).to.be.within(60_000, 70_000);
    expect(times[0]).to.be.within(EPOCH + 3000, EPOCH + 10_000);
  });

  it('begin with the frame that tells of an arming', async () => {
    const rig = await met('armed');
    rig.armed = true;
    rig.beat();
    rig.attitude(1000);
    await rig.live(1000);
    await rig.link.stop();
    const [name = ''] = await files();
    const heard = (await read(name)).filter(({ component }) => component === 1);
    expect(heard.slice(0, 2).map(({ id }) => id)).to.deep.equal([HEARTBEAT, ATTITUDE]);
  });

  it('of a vehicle that sends its log, or floods with anything, have every other frame', async () => {
    const rig = await met('always');
    const data = Object.assign(new common.LogData(), {
      id: 1,
      count: 90,
      data: Array.from({ length: 90 }, () => 7),
    });
    const flood = Object.assign(new common.DebugVect(), { name: 'flood', x: 1, y: 1, z: 1 });
    for (let second = 0; second < 3; second++) {
      for (let count = 0; count < 4000; count++) {
        rig.say(data);
        rig.say(flood);
      }
      rig.say(Object.assign(new common.NamedValueInt(), { name: 'seldom', value: second }));
      await rig.live(1000);
    }
    await rig.link.stop();
    const [name = ''] = await files();
    const ids = (await read(name)).map(({ id }) => id);
    expect(ids).to.not.include(120);
    expect(ids.filter((id) => id === 252)).to.have.length(3);
    expect(ids.filter((id) => id === 250).length).to.be.within(3000, 11_999);
  });

  it('are written all the time, or never, as the config says', async () => {
    const always = await met('always');
    await always.live(3000);
    await always.link.stop();
    const [name = ''] = await files();
    expect((await read(name)).length).to.be.above(5);
    await removeDir(folder);
    await mkdir(folder);
    const off = await met('off');
    await arm(off);
    await off.live(3000);
    await off.link.stop();
    expect(await files()).to.deep.equal([]);
  });

  it('go on through a link that is lost in flight; a process that has just started begins none', async () => {
    const rig = await met('armed');
    await arm(rig);
    await rig.live(2000);
    await rig.clock.advance(90_000); // nothing is heard
    await rig.live(1000);
    await rig.link.stop();
    expect(await files()).to.have.length(1);
    const fresh = new Rig({ tlog: { store: new TlogStore(join(folder, 'fresh'), 512), when: 'armed' } });
    await fresh.meet();
    await fresh.live(4000);
    await fresh.link.stop();
    expect(await files()).to.have.length(1);
  });

  it('a clock that is set begins a new file, and time runs back in none', async () => {
    // In memory: the disk's time is not the fake clock's.
    const kept: { readonly day: string; readonly bytes: Buffer[] }[] = [];
    const rig = await met('always', {
      create: async (startedAt) => {
        const file = { day: new Date(startedAt).toISOString().slice(0, 10), bytes: [] as Buffer[] };
        kept.push(file);
        return {
          name: file.day,
          isLong: false,
          append: async (bytes) => {
            file.bytes.push(Buffer.from(bytes));
          },
          close: async () => undefined,
        };
      },
    });
    await rig.live(3000);
    rig.clock.set(Date.UTC(2026, 5, 1));
    await rig.live(3000);
    await rig.link.stop();
    expect(kept.map(({ day }) => day)).to.deep.equal(['2026-01-01', '2026-06-01']);
    for (const { day, bytes } of kept) {
      const times = recordsOf(Buffer.concat(bytes)).map(({ at }) => at);
      expect(times, day).to.deep.equal(times.toSorted((x, y) => x - y));
      expect((times.at(-1) ?? 0) - (times[0] ?? 0), day).to.be.below(6000);
    }
  });

  it('the oldest are deleted when all together are too large; other files stay', async () => {
    const mib = Buffer.alloc(1024 * 1024);
    for (const day of [1, 2, 3, 4])
      await writeFile(join(folder, `2025010${day}T000000.000Z.tlog`), Buffer.concat(Array(4).fill(mib)));
    await writeFile(join(folder, 'notes.txt'), mib);
    const file = await new TlogStore(folder, 16).create(EPOCH);
    await file.append(Buffer.alloc(10));
    expect(await files()).to.have.members([
      '20250102T000000.000Z.tlog',
      '20250103T000000.000Z.tlog',
      '20250104T000000.000Z.tlog',
      '20260101T000000.000Z.tlog',
      'notes.txt',
    ]);
    expect(file.isLong).to.equal(false);
    await file.append(Buffer.concat(Array(4).fill(mib)));
    expect(file.isLong).to.equal(true);
    await file.close();
    const again = await new TlogStore(folder, 16).create(EPOCH);
    expect(again.name).to.equal('20260101T000000.000Z_2.tlog');
    await again.close();
  });

  it('a disk that others have filled costs no older log, and leaves no empty one (needs root)', async function () {
    needs(this, 'root');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]);
    try {
      await writeFile(join(folder, '20250101T000000.000Z.tlog'), 'kept');
      const error: unknown = await new TlogStore(folder, 512)
        .create(EPOCH)
        .catch((caught: unknown) => caught);
      expect(error).to.include({ code: 'E_DISK_FULL' });
      expect(await files()).to.deep.equal(['20250101T000000.000Z.tlog']);
    } finally {
      execFileSync('umount', [folder]);
    }
  });

  it('a disk that fails stops no frame, is told once, and is tried again', async () => {
    const disk = { fails: true, bytes: 0 };
    const store = {
      create: async () => {
        if (disk.fails) throw new Error('ENOSPC: no space left on device');
        return {
          name: 'x.tlog',
          isLong: false,
          append: async (bytes: Buffer) => {
            disk.bytes += bytes.length;
          },
          close: async () => undefined,
        };
      },
    };
    const rig = await met('always', store);
    await rig.live(4000);
    expect(rig.state().tlog.problem).to.include('ENOSPC');
    expect(rig.logged.filter((line) => line.includes('telemetry log'))).to.have.length(1);
    expect(rig.state().mavlink_alive).to.equal(true);
    disk.fails = false;
    await rig.live(2000);
    expect(rig.state().tlog).to.deep.include({ name: 'x.tlog', problem: null });
    expect(rig.state().tlog.dropped, 'what it did not take').to.be.above(0);
    expect(disk.bytes).to.be.above(100);
    await rig.link.stop();
  });

  it('a disk that does not answer drops what has no room, and delays nothing', async () => {
    const { promise: stuck, resolve } = Promise.withResolvers<void>();
    const written: number[] = [];
    const store = {
      create: async () => ({
        name: 'x.tlog',
        isLong: false,
        append: async (bytes: Buffer) => {
          written.push(bytes.length);
          await stuck;
        },
        close: async () => undefined,
      }),
    };
    const rig = await met('always', store);
    await rig.live(2000);
    for (let count = 0; count < 20_000; count++) rig.attitude(count);
    await rig.live(2000);
    expect(rig.state().tlog.dropped).to.be.above(1000);
    expect(rig.state().telemetry.ages.attitude).to.be.a('number');
    resolve();
    await rig.live(1500);
    await rig.link.stop();
    expect(written.length).to.be.above(1);
    expect(Math.max(...written)).to.be.at.most(256 * 1024);
  });
});
