import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** Prints every message that comes to a Unix datagram socket, a line each, as systemd would read it. */
const LISTENER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    for line in s.recv(4096).decode().splitlines(): print(line, flush=True)
`;

describe('the supervisor watches', () => {
  it('G8 a process whose loop hangs: killed, restarted, and its last words say why', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      args: ['--watch-limits', '{"pingMs":200,"hungMs":1000}'],
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
      expect(words.join('\n')).to.include('no answer to pings for 1000 ms');
    } finally {
      await node.stop();
    }
  });

  it('a process above its memory ceiling: warned of, stopped, restarted, and its last words say why', async () => {
    const node = await TestNode.launch({
      pairing: { key: KEY },
      simulated: false,
      args: ['--watch-limits', '{"memoryMs":100}', '--ceilings', '{"svc-residual":40}'],
    });
    try {
      await node.until((services) =>
        services.some(
          ({ name, last_words: words }) =>
            name === 'svc-residual' && words.join().includes('above its ceiling'),
        ),
      );
      const words = node.service('svc-residual').last_words.join('\n');
      expect(words).to.match(/svc-residual takes \d+ MiB; its ceiling is 40 MiB/);
      expect(words).to.match(/killed: \d+ MiB above its ceiling of 40 MiB/);
      expect(node.service('svc-residual').restarts).to.be.above(0);
    } finally {
      await node.stop();
    }
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
    node.supervisor.kill('SIGTERM');
    const [code] = (await gone) as [number | null];
    expect(code).to.equal(1);
    // The kernel takes a moment; svc-link would stay for ever, stopped as it is.
    for (const pid of pids) while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
    await node.stop();
  });

  it('systemd is told: ready, status, watchdog, stopping; the children are not given its socket', async function () {
    const base = await tempDir();
    const path = join(base, 'notify');
    const systemd = spawn('python3', ['-c', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    let wake = (): void => undefined;
    createInterface(systemd.stdout).on('line', (line) => {
      lines.push(line);
      wake();
    });
    const heard = async (wanted: RegExp): Promise<void> => {
      while (!lines.some((line) => wanted.test(line))) await new Promise<void>((resolve) => (wake = resolve));
    };
    await heard(/^bound$/);
    const node = await TestNode.start({
      simulated: false,
      env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: '400000' },
    });
    try {
      await heard(/^READY=1$/);
      await heard(/^STATUS=3 of 3 processes run$/);
      await heard(/^WATCHDOG=1$/);
      expect(lines.filter((line) => line === 'READY=1')).to.have.length(1);
      const env = readFileSync(`/proc/${node.pid('svc-control')}/environ`, 'utf8');
      expect(env).to.not.include('NOTIFY_SOCKET').and.not.include('WATCHDOG_USEC');
      process.kill(node.pid('svc-residual'), 'SIGKILL');
      await heard(/^STATUS=svc-residual is waiting, 2 of 3 processes run$/);
    } finally {
      await node.stop();
      await heard(/^STOPPING=1$/);
      systemd.kill();
      await removeDir(base);
    }
  });
});

/** A process that ended and that nobody has asked about yet is dead too. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
