import { expect } from 'chai';
import fc from 'fast-check';
import { minimal } from 'node-mavlink';
import { encodeAs } from '../link/mavlink-samples.ts';
import { DataflashWriter } from '../support/dataflash-writer.ts';
import { reportOfBytes } from '../support/report-of.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { UlogWriter } from '../support/ulog-writer.ts';
import { fieldOf, openBytes } from '../support/viewer-log.ts';

const BOOT_2024 = 1_712_345_678;

describe('logs of other firmware, read by report and viewer alike', () => {
  let folder: string;
  before(async () => {
    folder = await tempDir();
  });
  after(async () => removeDir(folder));

  const both = (bytes: Buffer, kind: 'tlog' | 'onboard' = 'onboard') => {
    const { summary } = openBytes(bytes);
    const [from = 0, to = 0] = summary.span ?? [];
    return { report: reportOfBytes(folder, bytes, kind), span: to - from, summary };
  };

  for (const [what, start] of [
    ['since it was switched on', 600],
    ['of the day', BOOT_2024],
  ] as const)
    it(`a ULog begins where its header says, by a clock ${what}: topics of before stand at its start`, () => {
      const log = new UlogWriter(start);
      log.data('vehicle_status', 0, { arming_state: 2, nav_state: 3 });
      log.data('vehicle_gps_position', start - 5, { fix_type: 3, time_utc_usec: (BOOT_2024 - 5) * 1e6 });
      for (let s = 0; s <= 30; s++)
        log.data('vehicle_global_position', start + s, { lat: 47 + s * 1e-5, lon: 8, alt: 400 });
      const { report, span, summary } = both(log.bytes);
      expect([report.duration_s, span]).to.deep.equal([30, 30]);
      expect(report.start).to.equal(new Date(BOOT_2024 * 1000).toISOString());
      expect((summary.utcOfZero ?? 0) / 1000 + start).to.be.closeTo(BOOT_2024, 1e-3);
      expect(report.modes).to.deep.equal([{ name: 'AUTO.MISSION', from_s: 0, to_s: 30 }]);
    });

  it('one odd row never sets the axis, wherever it stands', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.constantFrom(0, 5000, 1e9, 3e9), (odd, at) => {
        const log = new DataflashWriter();
        for (let s = 0; s < 40; s++) {
          if (s === odd) log.write('VIBE', at === 0 ? 0 : 100 + at, { IMU: 0 });
          log.write('ATT', 9000 + s, { Roll: s });
        }
        const { report, span } = both(log.bytes);
        expect([report.duration_s, span]).to.deep.equal([39, 39]);
      }),
    );
  });

  it('a letter that nobody knows costs its own columns, and a half is a number', () => {
    const log = new DataflashWriter();
    const row = Buffer.alloc(8 + 2 + 4 + 4);
    row.writeBigUInt64LE(5_000_000n, 0);
    row.writeUInt16LE(0x4248, 8); // 3.140625
    row.writeFloatLE(7.5, 14);
    log.foreign('NEW1', 'Qgxf', 'TimeUS,Half,Odd,After', row);
    log.foreign('NEW2', 'Qxyf', 'TimeUS,Odd,Odder,After', row);
    const { log: open, summary } = openBytes(log.bytes);
    const value = (group: string, field: string) => open.values([fieldOf(summary, group, field)], 5)[0];
    expect([value('NEW1', 'Half'), value('NEW1', 'After'), value('NEW2', 'After')]).to.deep.equal([
      3.140625, 7.5, 7.5,
    ]);
    expect(summary.groups.find(({ name }) => name === 'NEW1')?.fields.map(({ name }) => name)).to.deep.equal([
      'TimeUS',
      'Half',
      'After',
    ]);
  });

  it('errors of ArduPilot are said in words', () => {
    const log = new DataflashWriter();
    for (const [s, Subsys, ECode] of [
      [1, 22, 5],
      [2, 10, 17],
      [3, 12, 1],
      [4, 3, 4],
      [5, 25, 9],
      [6, 22, 0],
    ] as const)
      log.write('ERR', s, { Subsys, ECode });
    const { report, summary } = both(log.bytes);
    const words = [
      'navigation: the destination is outside of the fence',
      'flight mode: mode 17 was refused',
      'crash check: crash',
      'compass: unhealthy',
      'thrust loss: code 9',
      'navigation: resolved',
    ];
    expect(report.events.map(({ text }) => text)).to.deep.equal(words);
    expect(summary.events.map(({ text }) => text)).to.deep.equal(words.map((text) => `Error, ${text}`));
  });

  it('a time of 32 bits goes on where it wraps; that of old firmware is in ms', () => {
    const word = (value: number): Buffer => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(value % 2 ** 32);
      return bytes;
    };
    const wrapped = new DataflashWriter();
    const begin = 2 ** 32 - 20e6;
    const rows = Array.from({ length: 41 }, (_, s) => word(begin + s * 1e6));
    wrapped.foreign('OLD', 'I', 'TimeUS', ...rows);
    expect(both(wrapped.bytes).span).to.be.closeTo(40, 1e-3);
    const old = new DataflashWriter();
    old.foreign('OLD', 'I', 'TimeMS', ...Array.from({ length: 41 }, (_, s) => word(1000 + s * 1000)));
    expect(both(old.bytes).span).to.be.closeTo(40, 1e-3);
  });

  it('a telemetry log that a camera, a gimbal or a ground station begins is one of the vehicle', () => {
    const beat = (type: number, autopilot: number, component: number, baseMode = 0) => {
      const message = Object.assign(new minimal.Heartbeat(), {
        type,
        autopilot,
        baseMode,
        mavlinkVersion: 3,
      });
      return encodeAs(message, 'v2', 0, component === 190 ? 255 : 1, component);
    };
    const others = [beat(30, 8, 100), beat(26, 0, 154), beat(6, 8, 190), beat(18, 0, 191)];
    const parts: Buffer[] = [];
    for (let s = 0; s < 20; s++)
      for (const frame of [...others, beat(2, 3, 1, s > 5 && s < 15 ? 128 : 0)]) {
        const stamp = Buffer.alloc(8);
        stamp.writeBigUInt64BE(BigInt((BOOT_2024 + s) * 1e6));
        parts.push(stamp, frame);
      }
    const { report, summary } = both(Buffer.concat(parts), 'tlog');
    expect(report.vehicle).to.equal('ArduPilot copter');
    expect(report.events.map(({ kind, at_s: at }) => [kind, at])).to.deep.equal([
      ['armed', 6],
      ['disarmed', 15],
    ]);
    expect(report.duration_s).to.equal(9);
    expect(summary.events.length).to.be.at.least(2);
  });
});
