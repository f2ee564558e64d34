import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { walkDataflash } from '../../shared/logs/dataflash.ts';
import { LogBytes } from '../../shared/logs/log-bytes.ts';
import { textAt } from '../../shared/logs/numbers.ts';
import { MADE_FAULTS } from '../support/made-faults.ts';
import { reportOfBytes } from '../support/report-of.ts';

/** A .BIN as Mission Planner turns it into text. */
function textOf(bytes: Buffer): string {
  const lines: string[] = ['FMT, 128, 89, FMT, BBnNZ, Type,Length,Name,Format,Columns'];
  const told = new Set<string>();
  const log = new LogBytes((into, at) => bytes.copy(into, 0, at, at + into.length), bytes.length);
  walkDataflash(log, ({ id, name, length, format, fields }) => {
    if (!told.has(name))
      lines.push(`FMT, ${id}, ${length}, ${name}, ${format}, ${[...fields.keys()].join(',')}`);
    told.add(name);
    const values = [...fields.values()].map(({ at, get, size }) =>
      get === null ? textAt(log.view, log.start + at, size) : String(get(log.view, log.start + at)),
    );
    lines.push([name, ...values].join(', '));
    return true;
  });
  return `${lines.join('\r\n')}\r\n`;
}

/** A flight of 2013: no row has a time, GPS has that of the week; whole numbers of hundredths. */
const OLD = `58

ArduCopter V3.0.1
Free RAM: 1273
FMT, 128, 89, FMT, BBnNZ, Type,Length,Name,Format
FMT, 129, 23, PARM, Nf, Name,Value
FMT, 130, 35, GPS, BIBcLLeeEe, Status,Time,NSats,HDop,Lat,Lng,RelAlt,Alt,Spd,GCrs
FMT, 132, 67, MSG, Z, Message
FMT, 9, 19, CURR, hIhhhf, Thr,ThrInt,Volt,Curr,Vcc,CurrTot
FMT, 11, 11, MOT, hhhh, Mot1,Mot2,Mot3,Mot4
FMT, 5, 49, NTUN, Ecffffffffee, WPDst,WPBrg,PErX,PErY,DVelX,DVelY,VelX,VelY,DAcX,DAcY,DRol,DPit
FMT, 1, 17, ATT, cccccCC, RollIn,Roll,PitchIn,Pitch,YawIn,Yaw,NavYaw
FMT, 3, 6, MODE, Mh, Mode,ThrCrs
FMT, 13, 4, EV, B, Id
PARM, RTL_ALT, 0.000000
EV, 10
MODE, ALT_HOLD, 494
EV, 16
${Array.from(
  { length: 100 },
  (_, at) => `GPS, 3, ${308_900_200 + at * 200}, 14, 0.90, 24.2398205, 54.5793101, 5.19, 9.48, 1.01, 347.24
CURR, 337, 2021, ${1260 - at}, 1250, 5012, 0.000000
ATT, 0.00, 1.00, 0.00, 2.00, 0.00, 239.97, 238.02
ATT, 0.00, 1.00, 0.00, 2.00, 0.00, 239.97, 238.02
NTUN, 2.39, 0.79, 47.936653, 229.169920, 44.734993, nan, 32.439617, 223.245450, 233.077880, 6.671211, 11.50, 7.00`,
).join('\n')}
CURR, 337, 9999, 1150, 1250, 3900, 0.0000`;

describe('a log of ArduPilot that was turned into text', function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-text-'));
  });
  after(async () => rm(folder, { recursive: true }));

  for (const { fault, log } of MADE_FAULTS.filter((each) => each.fault.endsWith('ArduPilot')))
    it(`has the same report: ${fault}`, () => {
      const text = Buffer.from(textOf(log()), 'latin1');
      const report = reportOfBytes(folder, text, 'onboard');
      expect(report).to.deep.equal(reportOfBytes(folder, log(), 'onboard'));
      // Cut off in the middle of a line.
      expect(reportOfBytes(folder, text.subarray(0, text.length / 2), 'onboard').vehicle).to.equal(
        report.vehicle,
      );
    });

  it('of a firmware that wrote no times has those of its GPS, names of modes, and units', () => {
    const { vehicle, modes, battery, events, findings } = reportOfBytes(folder, Buffer.from(OLD), 'onboard');
    expect(vehicle).to.equal('ArduCopter V3.0.1');
    expect(modes).to.deep.equal([{ name: 'ALT_HOLD', from_s: 0, to_s: modes[0]?.to_s }]);
    expect(modes[0]?.to_s).to.be.closeTo(20, 0.5);
    expect(battery).to.deep.include({ start: 12.6, min: 11.5 });
    expect(events.map(({ kind }) => kind)).to.include('takeoff');
    expect(findings.map(({ name }) => name)).to.include.members(['brown-out', 'ends in the air']);
  });
});
