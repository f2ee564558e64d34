import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { busyness, startLimit } from '../../bin/supervisor/start-limit.ts';
import { memoryOf, residentMiB } from '../../shared/process/memory.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { gone as ended } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

describe('the supervisor watches', () => {
  it('G8 a process whose loop hangs: killed, restarted, and its last words say why', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      args: ['--watch-limits', '{"pingMs":200,"hungMs":2000}'],
    });
    try {
      const before = node.pid('svc-residual');
      process.kill(before, 'SIGSTOP');
      await node.until((services) =>
        services.some(
          ({ name, state, pid }) => name === 'svc-residual' && state === 'running' && pid !== before,
        ),
      );
      const { last_exit: exit, last_words: words } = node.service('svc-residual');
      expect(exit).to.equal('SIGKILL');
      expect(words.join('\n')).to.include('no answer to pings for 2000 ms');
    } finally {
      await node.stop();
    }
  });

  it('a process that hangs is told long before it is killed, in the health and in readyz, and no more when it answers', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      args: ['--watch-limits', '{"pingMs":200,"hungMs":30000}'],
    });
    const headers = { 'x-svc-key': KEY };
    const said = async (): Promise<string> => {
      const { body } = await node.json('/api/status', { headers });
      return JSON.stringify(body['health']);
    };
    const hung = (name: string, is: boolean) => async (): Promise<void> =>
      node.until((services) => services.some((each) => each.name === name && each.hangs === is));
    try {
      const pid = node.pid('svc-residual');
      process.kill(pid, 'SIGSTOP');
      await hung('svc-residual', true)();
      expect(await askAgain('the health names it', said, (text) => text.includes('svc-residual'))).to.include(
        '"part":"process"',
      );
      const { status, body } = await node.json('/readyz', { headers });
      expect(status).to.equal(503);
      expect(body['checks']).to.include({ 'svc-residual': false });
      process.kill(pid, 'SIGCONT');
      await hung('svc-residual', false)();
      await askAgain('the health is silent', said, (text) => !text.includes('svc-residual'));
      expect(node.pid('svc-residual')).to.equal(pid);
    } finally {
      await node.stop();
    }
  });

  it('no process is blamed for the time in which the supervisor itself stood still', async () => {
    const node = await TestNode.start({
      simulated: false,
      args: ['--watch-limits', '{"pingMs":100,"hungMs":1000}'],
    });
    try {
      const before = ['svc-link', 'svc-control'].map((name) => node.pid(name));
      const { pid = 0 } = node.supervisor;
      process.kill(pid, 'SIGSTOP');
      await delay(2500); // longer than hungMs: that is what is tested
      process.kill(pid, 'SIGCONT');
      process.kill(node.pid('svc-residual'), 'SIGSTOP'); // whoever hangs from now on is still found
      await node.until((services) =>
        services.some(({ name, last_exit: exit }) => name === 'svc-residual' && exit === 'SIGKILL'),
      );
      expect(['svc-link', 'svc-control'].map((name) => node.pid(name))).to.deep.equal(before);
    } finally {
      await node.stop();
    }
  });

  it('a process that takes longer to load than a hung one is given: not killed for that', async () => {
    // No process of ours loads in 100 ms.
    const node = await TestNode.launch({
      simulated: false,
      args: ['--watch-limits', '{"pingMs":10,"hungMs":100}'],
    });
    try {
      await node.until((services) =>
        services.some(
          ({ name, state, restarts }) => name === 'svc-residual' && state === 'running' && restarts === 0,
        ),
      );
    } finally {
      await node.stop();
    }
  });

  it('a start may take longer on a busy machine, and does not take for ever', async () => {
    expect(startLimit(20_000, { load: 0.3, cores: 2, waitedMs: 40 })).to.equal(20_040);
    expect(startLimit(20_000, { load: 25, cores: 2, waitedMs: 0 })).to.equal(120_000);
    expect(startLimit(20_000, { load: 3, cores: 2, waitedMs: 15_000 })).to.equal(45_000);
    expect(startLimit(20_000, { load: 1e6, cores: 2, waitedMs: 1e9 })).to.equal(120_000);
    // Two that want the same core: one of them stands in line.
    const rivals = [0, 1].map(() => spawn('taskset', ['-c', '0', process.execPath, '-e', 'for (;;);']));
    const waited = async (): Promise<number> =>
      Math.max(...(await Promise.all(rivals.map(async ({ pid = 0 }) => (await busyness(pid)).waitedMs))));
    while ((await waited()) < 50);
    for (const rival of rivals) rival.kill('SIGKILL');
  });

  it('a process that is not ready in its time is killed, and its last words say why', async () => {
    // Its start takes longer by far, however patient.
    const node = await TestNode.launch({ simulated: false, args: ['--watch-limits', '{"readyMs":5}'] });
    try {
      await node.until((services) =>
        services.some(({ last_words: words }) => /not ready within \d+ ms/.test(words.join('\n'))),
      );
    } finally {
      await node.stop();
    }
  });

  it('a process above its memory ceiling: warned of, stopped, restarted, and its last words say why', async () => {
    const node = await TestNode.launch({
      pairing: { key: KEY },
      simulated: false,
      // Looked at often: V8 has a limit below the ceiling, at which a process of this size ends by itself soon.
      args: ['--watch-limits', '{"memoryMs":20}', '--ceilings', '{"svc-residual":10}'],
    });
    try {
      await node.until((services) =>
        services.some(
          ({ name, last_words: words }) =>
            name === 'svc-residual' && words.join().includes('above its ceiling'),
        ),
      );
      const words = node.service('svc-residual').last_words.join('\n');
      expect(words).to.match(/svc-residual takes \d+ MiB; its ceiling is 10 MiB/);
      expect(words).to.match(/killed: \d+ MiB above its ceiling of 10 MiB/);
      expect(node.service('svc-residual').restarts).to.be.above(0);
    } finally {
      await node.stop();
    }
  });

  it('memory of a process: its resident pages where the kernel knows no shares; of one that is gone: nothing', async () => {
    const resident = residentMiB(readFileSync('/proc/self/status', 'utf8'));
    const rss = process.memoryUsage.rss() / 1024 / 1024;
    expect(resident).to.be.within(rss / 2, rss * 2);
    expect(await memoryOf(process.pid)).to.be.within(rss / 4, rss * 2);
    expect(residentMiB('Name:\tnode\nState:\tZ (zombie)\n')).to.equal(null);
    expect(await memoryOf(2 ** 22 + 1)).to.equal(null); // above the kernel's largest process id
  });

  it('H8 a second SIGTERM ends everything at once', async () => {
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    // One that does not stop by itself.
    process.kill(node.pid('svc-link'), 'SIGSTOP');
    const pids = node.services.map(({ pid }) => pid).filter((pid) => pid !== null);
    const gone = once(node.supervisor, 'exit');
    node.supervisor.kill('SIGTERM');
    await node.until((services) =>
      services.some(({ name, state }) => name === 'svc-control' && state === 'stopped'),
    );
    // Two that come at once are one (npm passes on what the terminal has sent).
    const impatient = setInterval(() => node.supervisor.kill('SIGTERM'), 200);
    const [code] = (await gone) as [number | null];
    clearInterval(impatient);
    expect(code).to.equal(1);
    // The kernel takes a moment; svc-link would stay for ever, stopped as it is.
    await Promise.all(pids.map(ended));
    await node.stop();
  });
});
