import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { SupervisedChild } from '../../bin/supervisor/child.ts';
import { ChildRecord } from '../../bin/supervisor/orphans.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const simulated = false;

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function exists(pid: number): boolean {
  return existsSync(`/proc/${pid}/stat`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

describe('the processes of a supervisor that was killed', () => {
  it('H13 one that hangs and holds its sockets is ended by the next supervisor, and there are never two', async () => {
    let node = await TestNode.start({ pairing: { key: KEY }, simulated });
    const old = node.services.flatMap(({ pid }) => (pid === null ? [] : [pid]));
    for (const name of ['svc-residual', 'svc-link']) process.kill(node.pid(name), 'SIGSTOP');
    const hung = ['svc-residual', 'svc-link'].map((name) => node.pid(name));
    node.supervisor.kill('SIGKILL');
    await node.gone();
    for (const pid of hung) expect(exists(pid)).to.equal(true);

    node = await TestNode.resume(node, {});
    try {
      await node.until(
        (services) => services.length > 1 && services.every(({ state }) => state === 'running'),
      );
      for (const pid of old) expect(exists(pid), `${pid} is of the old tree`).to.equal(false);
      // They came up at the first try: nobody was in their way any more.
      for (const { name, restarts } of node.services) expect(restarts, name).to.equal(0);
      for (const pid of hung) expect(node.stderr).to.include(`(pid ${pid}): it outlived its supervisor`);
      expect((await node.fetch('/api/config', { headers: { 'x-svc-key': KEY } })).status).to.equal(200);
    } finally {
      expect(await node.stop({ keep: true })).to.equal(0);
      expect(existsSync(join(node.paths.run, 'children.json'))).to.equal(false);
      await node.remove();
    }
  });

  it('H13 they are written down with their ids and start times, for nobody else to read', async () => {
    const node = await TestNode.start({ simulated });
    try {
      const path = join(node.paths.run, 'children.json');
      expect(lstatSync(path).mode & 0o777).to.equal(0o600);
      const known = JSON.parse(readFileSync(path, 'utf8')) as { name: string; pid: number; born: string }[];
      const children = node.services.filter(({ name }) => name !== 'svc-supervisor');
      expect(known.map(({ name, pid }) => `${name} ${pid}`)).to.have.members(
        children.map(({ name, pid }) => `${name} ${pid}`),
      );
      for (const { pid, born } of known) expect(born).to.match(new RegExp(` ${startOf(pid)}$`));
    } finally {
      await node.stop();
    }
  });
});

describe('the record of whom a supervisor runs', () => {
  let base: string;
  let path: string;
  let bystander: ChildProcess;
  let problems: string[];
  let record: ChildRecord;
  beforeEach(async () => {
    base = await tempDir();
    path = join(base, 'children.json');
    bystander = spawn('sleep', ['60']);
    await once(bystander, 'spawn');
    problems = [];
    record = new ChildRecord(path, (text) => problems.push(text));
  });
  afterEach(async () => {
    bystander.kill('SIGKILL');
    await removeDir(base);
  });
  const pidOf = (): number => bystander.pid ?? 0;

  it('H13 a later process with the id of an old one is left alone', async () => {
    record.write([{ name: 'svc-residual', pid: pidOf() }]);
    const text = readFileSync(path, 'utf8');
    const start = startOf(pidOf());
    await writeFile(path, text.replace(` ${start}"`, ` ${Number(start) - 1}"`));
    await record.endOrphans();
    expect(exists(pidOf())).to.equal(true);
    expect(problems).to.deep.equal([]);
    // The same process at another boot.
    await writeFile(path, text.replace(/"born":"[0-9a-f-]+/, '"born":"00000000-0000-0000-0000-000000000000'));
    await record.endOrphans();
    expect(exists(pidOf())).to.equal(true);
  });

  it('H13 one that ends by itself in time is not killed', async () => {
    record.write([{ name: 'svc-residual', pid: pidOf() }]);
    const ended = once(bystander, 'exit');
    const done = record.endOrphans();
    bystander.kill('SIGTERM');
    await Promise.all([done, ended]);
    expect(problems).to.deep.equal([]);
    expect(existsSync(path)).to.equal(false);
  });

  for (const [what, text] of [
    ['half of it', '[{"name":"svc-residual","pid":1'],
    ['not a list', '{"pid":1}'],
    ['no ids', '[{"name":"svc-residual","pid":-1,"born":"x"},{"pid":1,"name":1,"born":"x"},null,7]'],
    ['empty', ''],
  ] as const) {
    it(`a file that is ${what}: nobody is killed, nothing is thrown`, async () => {
      await writeFile(path, text);
      await record.endOrphans();
      expect(problems.length).to.be.at.most(1);
      expect(existsSync(path)).to.equal(false);
    });
  }

  it('a symbolic link in its place is replaced, not followed', async () => {
    const precious = join(base, 'precious');
    await writeFile(precious, 'precious');
    for (const link of [path, `${path}.next`]) await symlink(precious, link);
    record.write([{ name: 'svc-residual', pid: pidOf() }]);
    expect(readFileSync(precious, 'utf8')).to.equal('precious');
    expect(lstatSync(path).isFile()).to.equal(true);
    expect(problems).to.deep.equal([]);
  });

  it('one that cannot be written: said, and the supervisor goes on', async () => {
    const nowhere = new ChildRecord(join(base, 'no/folder'), (text) => problems.push(text));
    nowhere.write([{ name: 'svc-residual', pid: pidOf() }]);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.include('cannot write');
  });
});

/** Runs a script under supervision until it has ended for the first time. */
async function superviseOnce(script: string): Promise<{
  readonly child: SupervisedChild;
  readonly lines: readonly string[];
  /** Every value that `unkillable` had meanwhile. */
  readonly unkillable: ReadonlySet<boolean>;
}> {
  const lines: string[] = [];
  const unkillable = new Set<boolean>();
  let ended: () => void = () => undefined;
  const end = new Promise<void>((resolve) => (ended = resolve));
  const child = new SupervisedChild(
    { name: 'svc-test', args: ['-e', script], env: process.env, memoryMiB: 512 },
    { secret: '', nodeStartedAt: 0 },
    {
      onLine: (line) => lines.push(line),
      onHangs: () => undefined,
      onState: (state) => {
        if (state === 'waiting') ended();
      },
      onArmed: () => undefined,
    },
    { pingMs: 50, hungMs: 200, memoryMs: 5000, readyMs: 20_000 },
  );
  child.start();
  const watch = setInterval(() => unkillable.add(child.unkillable), 20);
  await end;
  clearInterval(watch);
  return { child, lines, unkillable };
}

/** Leaves a program behind that holds its stderr, and says which. */
const LEAVE = `
  const { spawn } = require('node:child_process');
  const left = spawn('sleep', ['30'], { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
  process.stderr.write('left ' + left.pid + '\\n');
`;

function leftBy(lines: readonly string[]): number {
  return Number(/left (\d+)/.exec(lines.join())?.[1]);
}

describe('a supervised process', () => {
  it('whose own program outlives it and holds its stderr: its end is noticed, its last words are kept', async () => {
    const { child, lines } = await superviseOnce(
      `${LEAVE} process.exitCode = 3; process.disconnect(); left.unref();`,
    );
    const left = leftBy(lines);
    expect(exists(left)).to.equal(true);
    expect(child.status()).to.deep.include({ last_exit: 'code 3', last_words: [`left ${left}`] });
    await child.stop();
    process.kill(left, 'SIGKILL');
  });

  it('G8 that hangs and cannot be ended is beyond help until it is gone, and is spoken of once', async () => {
    // One that hangs in a driver stays after SIGKILL; here the program that holds its stderr stands for it, for 1 s.
    const script = `${LEAVE} process.send({ type: 'ready', info: {} }, () => { for (;;); });`;
    const { child, lines, unkillable } = await superviseOnce(script);
    expect([...unkillable]).to.have.members([false, true]);
    expect(child.unkillable).to.equal(false);
    expect(lines.filter((line) => line.includes('no answer to pings'))).to.have.length(1);
    await child.stop();
    process.kill(leftBy(lines), 'SIGKILL');
  });
});
