import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mock } from 'node:test';
import { expect } from 'chai';
import { SystemdNotify, withoutNotify } from '../../bin/supervisor/systemd-notify.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { telemetry } from '../support/events.ts';
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

/** Listens where systemd would. */
class FakeSystemd {
  readonly lines: string[] = [];
  readonly path: string;
  readonly #base: string;
  readonly #process: ChildProcess;
  #wake: () => void = () => undefined;

  private constructor(base: string) {
    this.#base = base;
    this.path = join(base, 'notify');
    const listener = spawn('python3', ['-c', LISTENER, this.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = listener;
    createInterface(listener.stdout).on('line', (line) => {
      this.lines.push(line);
      this.#wake();
    });
  }

  static async start(): Promise<FakeSystemd> {
    const systemd = new FakeSystemd(await tempDir());
    await systemd.heard(/^bound$/);
    return systemd;
  }

  /** Resolves when a line that fits has come since the line number `from`. */
  async heard(wanted: RegExp, from = 0): Promise<void> {
    while (!this.lines.slice(from).some((line) => wanted.test(line)))
      await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  count(line: string): number {
    return this.lines.filter((each) => each === line).length;
  }

  async stop(): Promise<void> {
    this.#process.kill();
    await removeDir(this.#base);
  }
}

describe('systemd is told', () => {
  let systemd: FakeSystemd;
  beforeEach(async () => {
    systemd = await FakeSystemd.start();
  });
  afterEach(async () => systemd.stop());

  it('ready, status, watchdog, stopping; the children are not given its socket', async () => {
    const env = { NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '400000', WATCHDOG_PID: '' };
    const node = await TestNode.start({ simulated: false, env });
    try {
      await systemd.heard(/^READY=1$/);
      await systemd.heard(/^STATUS=3 of 3 processes run$/);
      await systemd.heard(/^WATCHDOG=1$/, systemd.lines.indexOf('READY=1'));
      const environ = readFileSync(`/proc/${node.pid('svc-control')}/environ`, 'utf8');
      expect(environ).to.not.match(/NOTIFY_SOCKET|WATCHDOG_/);
      process.kill(node.pid('svc-residual'), 'SIGKILL');
      await systemd.heard(/^STATUS=svc-residual is waiting, 2 of 3 processes run$/);
    } finally {
      await node.stop();
    }
    await systemd.heard(/^STOPPING=1$/);
    // Whatever its children went through, the node became ready once, also where nobody watches it.
    expect(systemd.count('READY=1')).to.equal(1);
    const stopped = systemd.lines.indexOf('STOPPING=1');
    expect(systemd.lines.slice(stopped)).to.not.include('WATCHDOG=1');
  });

  it('to wait for 10 minutes before it restarts the node while a vehicle is armed, and no longer', async () => {
    const env = { NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '30000000', WATCHDOG_PID: '' };
    const node = await TestNode.start({ env });
    try {
      await telemetry(node, (body) => (body['ekf'] as { ok: boolean }).ok);
      const command = async (cmd: string) =>
        expect((await node.post('/api/command', { cmd })).body).to.include({ status: 'accepted' });
      await command('arm');
      await systemd.heard(/^WATCHDOG_USEC=600000000$/);
      const armed = systemd.lines.length;
      await command('disarm');
      await systemd.heard(/^WATCHDOG_USEC=30000000$/, armed);
    } finally {
      await node.stop();
    }
  });

  it('ready once also without a watchdog, when its processes come and go', async () => {
    const node = await TestNode.start({ simulated: false, env: { NOTIFY_SOCKET: systemd.path } });
    try {
      await systemd.heard(/^READY=1$/);
      await node.killAndAwaitSuccessor('svc-residual');
    } finally {
      await node.stop();
    }
    await systemd.heard(/^STOPPING=1$/);
    expect(systemd.count('READY=1')).to.equal(1);
    expect(systemd.count('WATCHDOG=1')).to.equal(0);
  });

  it('ready, with a process that is parked named in the status', async () => {
    const node = await TestNode.launch({
      simulated: false,
      // A process that cannot start in so little memory.
      args: ['--ceilings', '{"svc-residual":1}'],
      env: { NOTIFY_SOCKET: systemd.path },
    });
    try {
      await systemd.heard(/^READY=1$/);
      expect(systemd.lines).to.include('STATUS=svc-residual is parked, 2 of 3 processes run');
    } finally {
      await node.stop();
    }
  });

  it('a supervisor that begins anew in place stays watched, and does not say that the node stops', async () => {
    const env = { NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '400000' };
    const node = await TestNode.start({ simulated: false, env });
    const client = clientOf(SUPERVISOR, { path: node.paths.supervisorSocket });
    client.start();
    try {
      await systemd.heard(/^READY=1$/);
      const { pid } = node.supervisor;
      const before = systemd.lines.length;
      await client.calls.restart_self({});
      await systemd.heard(/^READY=1$/, before);
      const since = systemd.lines.slice(before);
      expect(since).to.include('WATCHDOG=1').and.not.include('STOPPING=1');
      expect(node.supervisor.exitCode).to.equal(null);
      expect(node.supervisor.pid).to.equal(pid);
    } finally {
      client.stop();
      expect(await node.stop()).to.equal(0);
    }
    await systemd.heard(/^STOPPING=1$/);
  });

  it('to wait for a node on a slow card, until it is ready', async () => {
    const env = { ...process.env, NOTIFY_SOCKET: systemd.path };
    const onProblem = (text: string): void => expect.fail(text);
    const notify = new SystemdNotify({ env, pid: process.pid, onProblem });
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      notify.start();
      await systemd.heard(/^EXTEND_TIMEOUT_USEC=60000000$/);
      const asked = systemd.lines.length;
      mock.timers.tick(30_000);
      await systemd.heard(/^EXTEND_TIMEOUT_USEC=60000000$/, asked);
      notify.ready();
      mock.timers.tick(30_000);
      await systemd.heard(/^READY=1$/);
      await notify.end();
    } finally {
      mock.timers.reset();
    }
    const since = systemd.lines.slice(systemd.lines.indexOf('READY=1'));
    expect(since).to.not.include('EXTEND_TIMEOUT_USEC=60000000');
  });

  it('a watchdog that is meant for another process is not fed', async () => {
    const problems: string[] = [];
    const env = { ...process.env, NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '2000', WATCHDOG_PID: '1' };
    const notify = new SystemdNotify({ env, pid: process.pid, onProblem: (text) => problems.push(text) });
    notify.start();
    for (const text of ['one', 'two', 'three']) {
      notify.status(text);
      await systemd.heard(new RegExp(`^STATUS=${text}$`));
    }
    await notify.end();
    expect(systemd.lines).to.not.include('WATCHDOG=1');
    expect(problems).to.deep.equal([]);
  });

  it('G8 while the node is not healthy the watchdog is not fed; once it is again, it is', async () => {
    let asked = 0;
    let often: () => void = () => undefined;
    const askedOften = new Promise<void>((resolve) => (often = resolve));
    const notify = new SystemdNotify({
      env: { ...process.env, NOTIFY_SOCKET: systemd.path, WATCHDOG_USEC: '100000' },
      pid: process.pid,
      healthy: () => {
        if (++asked === 5) often();
        return asked > 5;
      },
      onProblem: (text) => expect.fail(text),
    });
    notify.start();
    await askedOften;
    notify.status('not healthy so far');
    await systemd.heard(/^WATCHDOG=1$/);
    await notify.end();
    expect(systemd.lines.indexOf('WATCHDOG=1')).to.be.above(
      systemd.lines.indexOf('STATUS=not healthy so far'),
    );
  });

  it('no two messages are on their way at once, and the newest status wins', async () => {
    const notify = new SystemdNotify({
      env: { ...process.env, NOTIFY_SOCKET: systemd.path },
      pid: process.pid,
      onProblem: (text) => expect.fail(text),
    });
    for (let n = 0; n < 50; n++) notify.status(`status ${n}`);
    notify.ready();
    await notify.end();
    await systemd.heard(/^READY=1$/);
    expect(systemd.lines.filter((line) => line.startsWith('STATUS='))).to.deep.equal([
      'STATUS=status 0',
      'STATUS=status 49',
    ]);
  });
});

describe('systemd cannot be told', () => {
  it('without the program systemd-notify: said once, and the node goes on', async () => {
    const bin = await tempDir();
    const problems: string[] = [];
    const env = { NOTIFY_SOCKET: join(bin, 'notify'), WATCHDOG_USEC: '2000', PATH: bin };
    const notify = new SystemdNotify({ env, pid: process.pid, onProblem: (text) => problems.push(text) });
    notify.start();
    for (const text of ['one', 'two', 'three']) {
      notify.status(text);
      await new Promise(setImmediate);
    }
    notify.ready();
    notify.stopping();
    await notify.end();
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/^systemd could not be notified: .* has no systemd-notify/);
    await removeDir(bin);
  });

  it('outside of systemd no program is run at all', async () => {
    const bin = await tempDir();
    const env = { PATH: bin, WATCHDOG_USEC: '2000' };
    const notify = new SystemdNotify({ env, pid: process.pid, onProblem: (text) => expect.fail(text) });
    notify.start();
    notify.status('running');
    notify.ready();
    notify.stopping();
    await notify.end();
    await removeDir(bin);
  });

  it('the children get neither its socket nor its watchdog', () => {
    const env = { NOTIFY_SOCKET: '/x', WATCHDOG_USEC: '1', WATCHDOG_PID: '1', PATH: '/bin' };
    expect(withoutNotify(env)).to.deep.equal({ PATH: '/bin' });
  });
});
