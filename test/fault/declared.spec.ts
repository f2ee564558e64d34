import { expect } from 'chai';
import type { Supervisor } from '../../bin/supervisor/supervisor.ts';
import { ApiError } from '../../shared/errors.ts';
import { child, script, superviseIn } from '../support/supervised.ts';
import { removeDir, tempDir } from '../support/temp.ts';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // ESRCH: it is gone, and was waited for
  }
}

describe('processes that are declared while the supervisor runs', () => {
  let dir = '';
  let supervisor: Supervisor;
  let wake: () => void = () => undefined;

  const pids = (): Record<string, number | null> =>
    Object.fromEntries(supervisor.status().map(({ name, pid }) => [name, pid]));
  const pidOf = (name: string): number => pids()[name] ?? 0;
  /** Looks after every change of state. */
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => (wake = resolve));
  };
  const running = async (...names: readonly string[]): Promise<void> =>
    until(() => names.every((name) => supervisor.child(name)?.state === 'running'));

  beforeEach(async () => {
    dir = await tempDir();
    supervisor = superviseIn(dir, [{ ...child('svc-link'), wanted: false }], () => wake());
    await supervisor.start(new AbortController().signal);
  });
  afterEach(async () => {
    await supervisor.stop();
    await removeDir(dir);
  });

  it('what is new is started, what is the same goes on, what has changed is another process, what is gone is stopped', async () => {
    await supervisor.declare([child('svc-same'), child('svc-changed'), child('svc-gone')]);
    await running('svc-same', 'svc-changed', 'svc-gone');
    const before = pids();
    await supervisor.declare([
      child('svc-new'),
      child('svc-same'),
      child('svc-changed', { env: { PATH: process.env['PATH'], MODEL: 'other' } }),
    ]);
    expect(isAlive(before['svc-gone'] ?? 0)).to.equal(false);
    expect(isAlive(before['svc-changed'] ?? 0)).to.equal(false);
    await running('svc-same', 'svc-changed', 'svc-new');
    expect(pids()).to.have.all.keys('svc-supervisor', 'svc-same', 'svc-changed', 'svc-new');
    expect(pidOf('svc-same')).to.equal(before['svc-same']);
    expect(pidOf('svc-changed')).to.not.equal(before['svc-changed']);
    await supervisor.declare([]);
    expect(pids()).to.have.all.keys('svc-supervisor');
    expect(isAlive(before['svc-same'] ?? 0)).to.equal(false);
  });

  it('two declarations at once: the later one holds', async () => {
    await Promise.all([
      supervisor.declare([child('svc-a'), child('svc-b')]),
      supervisor.declare([child('svc-b'), child('svc-c')]),
    ]);
    await running('svc-b', 'svc-c');
    expect(pids()).to.have.all.keys('svc-supervisor', 'svc-b', 'svc-c');
  });

  it('one that is killed is started again', async () => {
    await supervisor.declare([child('svc-a')]);
    await running('svc-a');
    const before = pidOf('svc-a');
    process.kill(before, 'SIGKILL');
    await until(() => supervisor.child('svc-a')?.state === 'running' && pidOf('svc-a') !== before);
    expect(supervisor.child('svc-a')?.status()).to.include({ restarts: 1, last_exit: 'SIGKILL' });
  });

  it('one that fails again and again is parked, and can still be taken away', async () => {
    await supervisor.declare([child('svc-a', { args: ['-e', 'process.exit(7)'] })]);
    await until(() => supervisor.child('svc-a')?.state === 'parked');
    expect(supervisor.child('svc-a')?.status()).to.include({ restarts: 5, last_exit: 'code 7' });
    await supervisor.declare([]);
    expect(pids()).to.have.all.keys('svc-supervisor');
  });

  it('one that takes more memory than it was given is ended, on the heap or beside it', async () => {
    const greedy = script('globalThis.kept = Buffer.alloc(200 << 20, 1);');
    const hoarder = script(
      'globalThis.kept = []; setInterval(() => { for (let i = 0; i < 1e5; i++) kept.push({ i }); });',
    );
    await supervisor.declare([
      child('svc-greedy', { args: ['-e', greedy], memoryMiB: 128 }),
      child('svc-hoarder', { args: ['-e', hoarder], memoryMiB: 60 }),
    ]);
    const words = (name: string): string => supervisor.child(name)?.status().last_words.join('\n') ?? '';
    await until(() => words('svc-greedy') !== '' && words('svc-hoarder') !== '');
    expect(words('svc-greedy')).to.match(/above its ceiling of 128 MiB/);
    expect(words('svc-hoarder')).to.match(/above its ceiling of 60 MiB|JavaScript heap out of memory/);
  });

  it('what is wrong with a declaration is said, and nothing is changed', async () => {
    await supervisor.declare([child('svc-a')]);
    await running('svc-a');
    const before = pids();
    for (const wrong of [
      [child('svc-link')], // of the plan, though the config does not want it now
      [child('svc-supervisor')],
      [child('svc-b'), child('svc-b')],
      [child('svc-../b')],
      [child('svc-b', { memoryMiB: 0 })],
      Array.from({ length: 17 }, (_, i) => child(`svc-${i}`)),
    ]) {
      const error = await supervisor.declare(wrong).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ApiError).and.include({ code: 'E_INVALID_VALUE' });
    }
    expect(pids()).to.deep.equal(before);
  });

  it('they stop with the supervisor, and none is started then', async () => {
    await supervisor.declare([child('svc-a')]);
    await running('svc-a');
    const pid = pidOf('svc-a');
    const stopped = supervisor.stop();
    const late = supervisor.declare([child('svc-a'), child('svc-b')]).catch((error: unknown) => error);
    await stopped;
    expect(await late)
      .to.be.instanceOf(ApiError)
      .and.include({ code: 'E_DRAINING' });
    expect(isAlive(pid)).to.equal(false);
    expect(supervisor.child('svc-b')).to.equal(undefined);
  });
});
