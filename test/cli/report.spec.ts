import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { MADE_FAULTS } from '../support/made-faults.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const nowhere = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' } as Parameters<
  typeof svc
>[0];
const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);

describe('svc report', function () {
  this.timeout(60_000); // each call is a process of its own
  let folder: string;
  before(async () => {
    folder = await tempDir();
  });
  after(async () => removeDir(folder));

  const fileOf = async (name: string, bytes: Buffer | string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return path;
  };
  const made = (fault: string): Buffer =>
    MADE_FAULTS.find((each) => each.fault === fault)?.log() ?? Buffer.alloc(0);

  it('needs no node, and no name that tells the kind; findings stand in their order', async () => {
    const log = await fileOf('what.ever', made('battery sag and brown-out, ArduPilot'));
    const { code, stdout } = await svc(nowhere, 'report', log);
    expect(code).to.equal(EXIT.done);
    expect(stdout).to.match(
      /\n30\.2–40\.0 s +critical The battery sagged .*\n +Charge .*\n36\.2–40\.0 s +critical The supply .*\n.*\n40\.0 s +critical The log ends in flight/,
    );
    expect((await svc(nowhere, 'report', VTOL)).stdout).to.include('ArduPilot plane 3.10.0');
  });

  it('lays two beside each other', async () => {
    const [one, other] = await Promise.all([
      fileOf('one', made('vibration, ArduPilot')),
      fileOf('other', made('radio loss, PX4')),
    ]);
    const { stdout } = await svc(nowhere, 'report', one, '--compare', other, '--json');
    expect(JSON.parse(stdout).compared).to.deep.include({
      only_this: ['vibration', 'clipping', 'EKF'],
      only_other: ['failsafe'],
      both: [],
    });
  });

  it('of what is no log says so', async () => {
    const whole = made('healthy, ArduPilot');
    for (const [name, bytes, code, said] of [
      ['empty.BIN', '', EXIT.refused, 'empty.BIN: This file is empty.'],
      ['cut.BIN', whole.subarray(0, 60), EXIT.refused, 'names none of its messages'],
      [
        'text.log',
        '9\n\nArduCopter V3.1\nFMT, 128, 89, FMT, BBnNZ\n',
        EXIT.refused,
        'names none of its messages',
      ],
      ['picture.png', Buffer.alloc(100_000, 0xfd), EXIT.refused, 'This is no log of a flight'],
    ] as const) {
      const answer = await svc(nowhere, 'report', await fileOf(name, bytes));
      expect([answer.code, answer.stdout], name).to.deep.equal([code, '']);
      expect(answer.stderr.replaceAll(/[\s›]+/g, ' '), name).to.include(said);
    }
    const gone = await svc(nowhere, 'report', join(folder, 'gone.BIN'));
    expect(gone.code).to.equal(EXIT.usage);
    expect((await svc(nowhere, 'report', folder)).stderr).to.include('It is no file.');
  });
});
