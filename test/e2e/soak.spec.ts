import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import type { SoakReport } from '../soak/report.ts';
import type { Rule } from '../soak/rig.ts';
import { gone } from '../support/events.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** What also depends on how fast the machine is: on a busy one it may be late, and the report says so. */
const TIMED: readonly string[] = [
  'whole',
  'mavlink',
  'telemetry',
  'viewer',
  'flights',
  'cable',
] satisfies Rule[];

/** `npm run soak`, in that folder and no other. */
function start(folder: string, ...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [join(ROOT, 'test/soak/main.ts'), ...args], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Resolves when it has made its first fault. */
async function firstFault(soak: ChildProcess): Promise<void> {
  if (soak.stderr === null) throw new Error('no stderr');
  for await (const line of createInterface({ input: soak.stderr })) if (/^\d+ s: /.test(line)) return;
  throw new Error('it ended before');
}

/** The processes below this one, now. */
function descendants(pid: number): readonly number[] {
  const children = globSync(`/proc/${pid}/task/*/children`)
    .flatMap((path) => readFileSync(path, 'utf8').trim().split(' '))
    .filter((text) => text !== '')
    .map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

describe('npm run soak', function () {
  this.timeout(240_000);
  let folder: string;

  beforeEach(async () => {
    folder = await tempDir();
  });
  afterEach(async () => removeDir(folder));

  it('a short one: nothing is lost, and the report says what was done', async () => {
    const file = join(folder, 'report.json');
    const soak = start(folder, '--minutes', '0.4', '--seed', '11', '--json', file);
    soak.stderr?.resume();
    const [code] = (await once(soak, 'exit')) as [number | null];
    const report = JSON.parse(readFileSync(file, 'utf8')) as SoakReport;
    const broken = report.invariants.filter(
      ({ outcome, name }) => outcome === 'broken' && !TIMED.includes(name),
    );
    expect(broken.map(({ name, breaches }) => `${name}: ${breaches.join('; ')}`)).to.deep.equal([]);
    expect(report).to.include({ cut_short: null, seed: 11, asked_s: 24 });
    expect(code).to.equal(report.ok ? 0 : 1);
    expect(report.history.length).to.be.above(0);
    expect(report.load['MAVLink frames']).to.be.above(100);
    expect(readFileSync(join(folder, 'report.md'), 'utf8')).to.match(/^# Soak: /);
    expect(globSync('soak-*', { cwd: folder })).to.deep.equal([]);
  });

  it('killed in the middle it leaves no process', async () => {
    const soak = start(folder, '--minutes', '9', '--seed', '11');
    await firstFault(soak);
    const left = descendants(soak.pid ?? 0);
    expect(left.length).to.be.above(5);
    soak.kill('SIGKILL');
    await Promise.all(left.map(gone));
  });

  it('says how it is used', async () => {
    const soak = start(folder, '--minutes', 'many');
    soak.stderr?.resume();
    expect(await once(soak, 'exit')).to.have.nested.property('[0]', 2);
  });
});
