import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { devicesOf } from '../../residual/app/plugins/sandbox/devices.ts';
import { extensionSocket } from '../../residual/app/plugins/sandbox/extension-socket.ts';
import { NoSandbox } from '../../residual/app/plugins/sandbox/none.ts';
import {
  chooseSandbox,
  type RunningExtension,
  type Sandbox,
  type SandboxSpec,
} from '../../residual/app/plugins/sandbox/sandbox.ts';
import { systemCallFilter } from '../../residual/app/plugins/sandbox/seccomp.ts';
import { SYSTEM_CALLS } from '../../residual/app/plugins/sandbox/system-calls.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const MODULE = join(ROOT, 'residual/app/plugins/sandbox/sandbox.ts');

/** A folder with what extensions need, and lines as they come. */
class Bench {
  readonly base: string;
  readonly lines: string[] = [];
  readonly running: RunningExtension[] = [];
  readonly #waiting: { readonly pattern: RegExp; readonly resolve: (line: string) => void }[] = [];

  constructor(base: string) {
    this.base = base;
  }

  /** An extension of this code. */
  async spec(id: string, code: string, more: Partial<SandboxSpec> = {}): Promise<SandboxSpec> {
    const at = join(this.base, id);
    const spec = { id, install: join(at, 'files'), data: join(at, 'data'), sockets: join(at, 'sockets') };
    for (const folder of [spec.install, spec.data, spec.sockets]) await mkdir(folder, { recursive: true });
    const runtime = more.runtime ?? 'node';
    const entrypoint = { node: 'main.mjs', python: 'main.py', binary: 'main' }[runtime];
    await writeFile(join(spec.install, entrypoint), code, { mode: 0o755 });
    await chmod(spec.install, 0o755);
    await chmod(join(spec.install, entrypoint), 0o755);
    return {
      ...spec,
      runtime,
      entrypoint,
      grants: new Set(),
      resources: { max_ram_mb: 96, max_cpu_percent: 25, max_pids: 12 },
      listenPorts: [],
      profile: 'drone',
      http: true,
      closedDevices: [],
      ...more,
    };
  }

  async start(sandbox: Sandbox, spec: SandboxSpec): Promise<RunningExtension> {
    const running = await sandbox.start(spec, (_stream, line) => {
      this.lines.push(line);
      for (const { pattern, resolve } of this.#waiting) if (pattern.test(line)) resolve(line);
    });
    this.running.push(running);
    return running;
  }

  /** The first line that matches, now or later. */
  async line(pattern: RegExp): Promise<string> {
    return (
      this.lines.find((line) => pattern.test(line)) ??
      new Promise((resolve) => void this.#waiting.push({ pattern, resolve }))
    );
  }

  /** What the extension found, which it tells as one line of JSON when it is done. */
  async found(sandbox: Sandbox, spec: SandboxSpec): Promise<Readonly<Record<string, unknown>>> {
    const { ended } = await this.start(sandbox, spec);
    await ended;
    const line = this.lines.find((text) => text.startsWith('{'));
    expect(line, this.lines.join('\n')).to.be.a('string');
    return JSON.parse(line ?? '') as Readonly<Record<string, unknown>>;
  }
}

/** Tries each of `attempts`, by name: what it gives, or the code of its error. */
const TRY = `
import fs from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
import { spawn } from 'node:child_process';
const tell = async (attempts) => {
  const found = {};
  for (const [name, attempt] of Object.entries(attempts))
    found[name] = await Promise.resolve().then(attempt).then((v) => v ?? 'done', (e) => e.code ?? String(e));
  console.log(JSON.stringify(found));
};
const connected = async (options) => {
  const socket = net.connect({ ...options, timeout: 2000 }).on('timeout', () => socket.destroy(new Error('no answer')));
  await once(socket, 'connect');
  socket.destroy();
  return 'connected';
};
`;

async function listening(host: string): Promise<{ server: Server; port: number; calls: () => number }> {
  let calls = 0;
  const server = createServer((socket) => {
    calls++;
    socket.on('error', () => undefined).end();
  }).listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server, port: address.port, calls: () => calls };
}

/** An address of this machine that is not loopback; null where it has none. */
function ownAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;
}

describe('the sandbox of extensions in a checkout', function () {
  this.timeout(60_000);
  let sandbox: Sandbox;
  let bench: Bench;
  let bystander: ChildProcess;

  before(async function () {
    const chosen = await chooseSandbox({
      installed: false,
      helperSocket: '',
      allowUnsandboxed: false,
      node: process.execPath,
      onProblem: () => undefined,
    });
    if (chosen === null) return this.skip(); // needs bubblewrap
    expect(chosen.kind).to.equal('bwrap');
    sandbox = chosen;
  });
  beforeEach(async () => {
    bench = new Bench(await tempDir());
    bystander = spawn('sleep', ['600']);
    await once(bystander, 'spawn');
  });
  afterEach(async () => {
    await Promise.all(bench.running.map(async (running) => running.stop()));
    expect(bystander.signalCode, 'a process outside was ended').to.equal(null);
    bystander.kill('SIGKILL');
    await removeDir(bench.base);
  });

  it('nothing of the node, of the machine’s settings or of another extension is there to be read', async () => {
    const etc = join(bench.base, 'etc');
    await mkdir(etc);
    await writeFile(join(etc, 'pairing.json'), '{"api_key":"secret"}');
    const control = createServer().listen(join(bench.base, 'control.sock'));
    await once(control, 'listening');
    const other = await bench.spec('org.other.thing', '');
    await writeFile(join(other.data, 'diary'), 'private');
    const spec = await bench.spec(
      'org.example.thief',
      `${TRY} await tell({
        pairing: () => fs.readFileSync('${etc}/pairing.json', 'utf8'),
        system_etc: () => fs.readFileSync('/etc/passwd', 'utf8'),
        diary: () => fs.readFileSync('${other.data}/diary', 'utf8'),
        climb: () => fs.readFileSync('/data/../../${other.data}/diary', 'utf8'),
        control: () => connected({ path: '${bench.base}/control.sock' }),
        environ: () => fs.readFileSync('/proc/${process.pid}/environ', 'utf8'),
        memory: () => fs.openSync('/proc/${process.pid}/mem', 'r+').toString(),
        processes: () => fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length,
        root: () => fs.readdirSync('/').join(' '),
        run: () => fs.readdirSync('/run').join(' '),
        descriptors: () => fs.readdirSync('/proc/self/fd').filter((fd) => fd > 2 && fs.existsSync('/proc/self/fd/' + fd)
          && fs.readlinkSync('/proc/self/fd/' + fd).startsWith('socket:')).length,
        environment: () => Object.keys(process.env).sort().join(' '),
      });`,
    );
    const { root, ...found } = await bench.found(sandbox, spec);
    control.close();
    expect(found).to.deep.equal({
      pairing: 'ENOENT',
      system_etc: 'ENOENT',
      diary: 'ENOENT',
      climb: 'ENOENT',
      control: 'ENOENT',
      environ: 'ENOENT',
      memory: 'ENOENT',
      processes: 2, // itself, and the one that collects orphans
      run: 'svc-extension',
      descriptors: 0,
      environment:
        'HOME LANG PATH PWD SVC_NODE_PROFILE SVC_PLUGIN_DATA SVC_PLUGIN_HTTP_SOCKET SVC_PLUGIN_ID SVC_PLUGIN_SOCKET',
    });
    for (const name of ['etc', 'home', 'var', 'srv', 'sys'])
      expect(String(root).split(' ')).not.to.include(name);
  });

  it('it writes to its data, its sockets and a small /tmp, and nowhere else', async () => {
    const spec = await bench.spec(
      'org.example.writer',
      `${TRY} const write = (path) => () => fs.writeFileSync(path, 'x');
      await tell({
        data: write('/data/x'), sockets: write('/run/svc-extension/x'), tmp: write('/tmp/x'),
        own_files: write('/extension/x'), usr: write('/usr/x'), root: write('/x'), dev: write('/dev/x'), run: write('/run/x'),
        opt: write('/opt/x'), kernel: write('/proc/sys/kernel/core_pattern'),
        much_tmp: () => fs.writeFileSync('/tmp/y', Buffer.alloc(20 << 20)),
        much_memory: () => fs.writeFileSync('/dev/shm/y', Buffer.alloc(20 << 20)),
      });`,
    );
    const { kernel, ...found } = await bench.found(sandbox, spec);
    expect(kernel).to.be.oneOf(['EROFS', 'EACCES']);
    expect(found).to.deep.equal({
      data: 'done',
      sockets: 'done',
      tmp: 'done',
      own_files: 'EROFS',
      usr: 'EROFS',
      root: 'EROFS',
      dev: 'EROFS',
      run: 'EROFS',
      opt: 'EROFS',
      much_tmp: 'ENOSPC',
      much_memory: 'ENOSPC',
    });
    expect(await readFile(join(spec.data, 'x'), 'utf8')).to.equal('x');
  });

  it('it can neither signal nor trace a process outside, nor become somebody else', async () => {
    const spec = await bench.spec(
      'org.example.killer',
      `import ctypes, json, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    getattr(libc, name)(*args)
    return os.strerror(ctypes.get_errno())
def attempt(f):
    try: f(); return 'done'
    except OSError as e: return e.strerror
node, bystander = ${process.pid}, ${bystander.pid ?? 0}
CLONE_NEWUSER = 0x10000000
print(json.dumps({
    'kill node': attempt(lambda: os.kill(node, 9)),
    'kill bystander': attempt(lambda: os.kill(bystander, 9)),
    'kill group': attempt(lambda: os.killpg(bystander, 9)),
    'kill everybody': attempt(lambda: os.kill(-1, 9)),
    'trace': call('ptrace', 16, bystander, 0, 0),
    'user namespace': call('unshare', CLONE_NEWUSER),
    'mount': call('mount', b'none', b'/tmp', b'tmpfs', 0, None),
    'root': attempt(lambda: os.setuid(0)),
    'nice': attempt(lambda: os.nice(-20)),
}), flush=True)
`,
      { runtime: 'python' },
    );
    const no = 'No such process';
    const { 'user namespace': namespace, ...found } = await bench.found(sandbox, spec);
    expect(found).to.deep.equal({
      'kill node': no,
      'kill bystander': no,
      'kill group': no,
      'kill everybody': no, // nobody but itself
      trace: 'Operation not permitted',
      mount: 'Operation not permitted',
      root: 'Operation not permitted',
      nice: 'Operation not permitted',
    });
    expect(namespace).to.not.equal('Success');
  });

  it('the kernel refuses it the calls that it has no business with, in its processes and theirs', async () => {
    const spec = await bench.spec(
      'org.example.caller',
      `import ctypes, json, os, platform
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == 'aarch64'
def call(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *args)
    return 'done' if result >= 0 else os.strerror(ctypes.get_errno())
page = ctypes.create_string_buffer(256)
numbers = {
    'keyctl': (250, 219), 'add_key': (248, 217), 'bpf': (321, 280), 'io_uring_setup': (425, 425), 'io_uring_enter': (426, 426),
    'userfaultfd': (323, 282), 'perf_event_open': (298, 241), 'mount': (165, 40), 'umount2': (166, 39), 'fsopen': (430, 430),
    'pivot_root': (155, 41), 'chroot': (161, 51), 'init_module': (175, 105), 'kexec_load': (246, 104), 'reboot': (169, 142),
    'ptrace': (101, 117), 'syslog': (103, 116), 'seccomp': (317, 277), 'chown': (260, 54), 'a call of the future': (900, 900),
}
found = {name: call(number[arm], 0, page, 0, 0, 0) for name, number in numbers.items()}
if not arm: found['getpid of x32'] = call(0x40000000 + 39)
child = os.fork()
if child == 0: os._exit(0 if call(numbers['keyctl'][arm], 0, page, 0, 0, 0) == 'Operation not permitted' else 1)
found['keyctl in a child'] = os.waitpid(child, 0)[1]
status = open('/proc/self/status').read()
found['Seccomp'] = [line.split()[1] for line in status.splitlines() if line.startswith('Seccomp:')][0]
print(json.dumps(found), flush=True)
`,
      { runtime: 'python' },
    );
    const { Seccomp: mode, 'keyctl in a child': child, ...calls } = await bench.found(sandbox, spec);
    expect([mode, child]).to.deep.equal(['2', 0]);
    expect(Object.keys(calls)).to.include('keyctl');
    expect(calls).to.deep.equal(
      Object.fromEntries(Object.keys(calls).map((name) => [name, 'Operation not permitted'])),
    );
  });

  it('has no open file but its standard ones: nothing of the node, nor of whoever started it', async () => {
    const grants: readonly (readonly string[])[] = [[], ['network.outbound']];
    for (const each of grants) {
      const spec = await bench.spec(
        `org.example.inherits${each.length}`,
        `import os
for fd in os.listdir('/proc/self/fd'):
    if os.path.exists('/proc/self/fd/' + fd): print('open', fd, os.readlink('/proc/self/fd/' + fd).split('[')[0], flush=True)
`,
        { runtime: 'python', grants: new Set(each) },
      );
      if ((await sandbox.refusal(spec)) !== null) continue; // needs slirp4netns
      const host = `
        const { chooseSandbox } = await import(${JSON.stringify(MODULE)});
        const sandbox = await chooseSandbox({ installed: false, helperSocket: '', allowUnsandboxed: false, node: process.execPath, onProblem: console.error });
        const spec = ${JSON.stringify(spec)};
        await (await sandbox.start({ ...spec, grants: new Set(${JSON.stringify(each)}) }, (_, line) => console.log(line))).ended;`;
      const child = spawn(
        'bash',
        [
          '-c',
          `exec 200</etc/passwd; exec "$@"`,
          'bash',
          process.execPath,
          '--input-type=module',
          '-e',
          host,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const lines = (await child.stdout.toArray()).join('').trim().split('\n');
      expect(lines, each.join()).to.deep.equal(['open 0 /dev/null', 'open 1 socket:', 'open 2 socket:']);
    }
  });

  it('without a grant it reaches no network: neither the loopback of the machine nor another address', async () => {
    const here = await listening('0.0.0.0');
    const address = ownAddress();
    const spec = await bench.spec(
      'org.example.caller',
      `${TRY} await tell({
        loopback: () => connected({ host: '127.0.0.1', port: ${here.port} }),
        loopback6: () => connected({ host: '::1', port: ${here.port} }),
        address: () => connected({ host: '${address ?? '192.0.2.1'}', port: ${here.port} }),
        abstract: () => connected({ path: '\\0/tmp/.X11-unix/X0' }),
      });`,
    );
    expect(await bench.found(sandbox, spec)).to.deep.equal({
      loopback: 'ECONNREFUSED', // its own, where nobody listens
      loopback6: 'ECONNREFUSED',
      address: 'ENETUNREACH',
      abstract: 'ECONNREFUSED',
    });
    expect(here.calls()).to.equal(0);
    here.server.close();
  });

  it('network.outbound reaches other addresses but not the machine’s loopback, or is refused with what is missing', async () => {
    const address = ownAddress() ?? '192.0.2.1';
    const [loop, out] = await Promise.all([listening('127.0.0.1'), listening(address)]);
    const spec = await bench.spec(
      'org.example.outbound',
      `${TRY} await tell({
        loopback: () => connected({ host: '127.0.0.1', port: ${loop.port} }),
        gateway: () => connected({ host: '10.0.2.2', port: ${loop.port} }),
        address: () => connected({ host: '${address}', port: ${out.port} }),
        resolver: () => fs.readFileSync('/etc/resolv.conf', 'utf8'),
        etc: () => fs.readdirSync('/etc').includes('passwd'),
      });`,
      { grants: new Set(['network.outbound']) },
    );
    const refusal = await sandbox.refusal(spec);
    if (refusal === null) {
      expect(await bench.found(sandbox, spec)).to.deep.equal({
        loopback: 'ECONNREFUSED',
        gateway: 'ENETUNREACH',
        address: 'connected',
        resolver: 'nameserver 10.0.2.3\n',
        etc: false,
      });
      expect([loop.calls(), out.calls()]).to.deep.equal([0, 1]);
    } else {
      expect(refusal).to.match(/^network\.outbound .* slirp4netns/);
      expect(await sandbox.start(spec, () => undefined).catch(String)).to.include(refusal);
    }
    loop.server.close();
    out.server.close();
  });

  it('memory beyond its limit ends it, in one process or spread over several', async () => {
    const hog = `const kept = []; setInterval(() => kept.push(Buffer.alloc(4 << 20, 1)), 5);`;
    const one = await bench.start(sandbox, await bench.spec('org.example.hog', hog));
    expect(await one.ended).to.deep.equal({ exit: 'out of memory' });
    const heap = `const kept = []; for (;;) kept.push({ a: [1, 2, 3] });`;
    const two = await bench.start(sandbox, await bench.spec('org.example.heap', heap));
    expect(await two.ended).to.deep.equal({ exit: 'out of memory' });
    const many = await bench.spec(
      'org.example.many',
      `import os, time
for _ in range(6):
    if os.fork() == 0:
        kept = bytearray(30 << 20)
        time.sleep(600)
time.sleep(600)`,
      { runtime: 'python' },
    );
    expect(await (await bench.start(sandbox, many)).ended).to.deep.equal({ exit: 'out of memory' });
  });

  it('a fork bomb gets no further than the processes it may have', async () => {
    const spec = await bench.spec(
      'org.example.bomb',
      `#!/bin/sh
n=0
while [ $n -lt 100 ]; do
  sleep 600 &
  n=$((n + 1))
  echo "made $n"
done
`,
      { runtime: 'binary', resources: { max_ram_mb: 96, max_cpu_percent: 25, max_pids: 8 } },
    );
    const bomb = await bench.start(sandbox, spec);
    await bomb.ended;
    expect(bench.lines.filter((line) => line.startsWith('made'))).to.have.lengthOf(7); // and itself
    expect(bench.lines.join('\n')).to.include('Cannot fork');
  });

  it('stop asks first, ends all of its processes after 5 s, and leaves nobody', async () => {
    const polite = await bench.start(
      sandbox,
      await bench.spec(
        'org.example.polite',
        `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('up');`,
      ),
    );
    await bench.line(/^up$/);
    await polite.stop();
    expect(await polite.ended).to.deep.equal({ exit: 'code 7' });
    const stubborn = await bench.start(
      sandbox,
      await bench.spec(
        'org.example.stubborn',
        `import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
print('deaf', os.getpid(), flush=True)
time.sleep(600)`,
        { runtime: 'python' },
      ),
    );
    await bench.line(/^deaf/);
    const pid = stubborn.pid ?? 0;
    const began = performance.now();
    await stubborn.stop();
    expect(performance.now() - began).to.be.within(4900, 30_000);
    expect(await stubborn.ended).to.deep.equal({ exit: 'SIGKILL' });
    expect(await readdir('/proc')).to.not.include(String(pid));
  });

  it('a host that is killed leaves no extension behind', async () => {
    const spec = await bench.spec('org.example.orphan', `console.log('up'); setInterval(() => {}, 1000);`);
    const host = `
      const { chooseSandbox } = await import(${JSON.stringify(MODULE)});
      const sandbox = await chooseSandbox({ installed: false, helperSocket: '', allowUnsandboxed: false, node: process.execPath, onProblem: console.error });
      const spec = ${JSON.stringify(spec)};
      const running = await sandbox.start({ ...spec, grants: new Set() }, () => undefined);
      console.log(running.pid);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', host], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [pid] = (await once(createInterface(child.stdout), 'line')) as [string];
    const command = async (): Promise<string> => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    expect(await command()).to.include('bwrap');
    child.kill('SIGKILL');
    await once(child, 'close');
    while ((await command()).includes('bwrap')) await new Promise(setImmediate);
  });

  it('its output is bounded: long lines are cut, too many are dropped and counted', async () => {
    const spec = await bench.spec(
      'org.example.loud',
      `process.stdout.write('x'.repeat(100_000) + '\\n'); for (let i = 0; i < 5000; i++) console.log('line', i);`,
    );
    await (await bench.start(sandbox, spec)).ended;
    expect(bench.lines[0]).to.have.lengthOf(8 * 1024 + 2);
    expect(bench.lines).to.have.lengthOf(1001);
    expect(bench.lines.at(-1)).to.equal('4001 lines were dropped: more than 1000 in 10 s');
  });

  it('what cannot be run says why, and its exit is told', async () => {
    const listen = await bench.spec('org.example.listen', '', { grants: new Set(['network.listen']) });
    expect(await sandbox.refusal(listen)).to.include('network.listen needs an installed node');
    const broken = await bench.spec('org.example.broken', `throw new Error('broken on purpose');`);
    expect(await (await bench.start(sandbox, broken)).ended).to.deep.equal({ exit: 'code 1' });
    expect(bench.lines.join('\n')).to.include('broken on purpose');
    const gone = await bench.spec('org.example.gone', '', { sockets: join(bench.base, 'nowhere') });
    const failed = await bench.start(sandbox, gone).then(
      async ({ ended }) => (await ended).exit,
      (error: unknown) => String(error),
    );
    expect(failed).to.match(/code 1|ENOENT|bubblewrap did not start it/);
    if (process.getuid?.() !== 0) return;
    await chmod(broken.install, 0o700);
    expect(await sandbox.refusal(broken)).to.include(`cannot read ${broken.install}`);
  });

  it('its data are removed, also what it closed; a link in them leads nowhere', async () => {
    const spec = await bench.spec(
      'org.example.leaver',
      `import fs from 'node:fs'; fs.mkdirSync('/data/a/b', { recursive: true }); fs.writeFileSync('/data/a/b/c', '');
       fs.symlinkSync('${bench.base}/precious', '/data/link'); fs.chmodSync('/data/a', 0);`,
    );
    await mkdir(join(bench.base, 'precious'));
    await writeFile(join(bench.base, 'precious/file'), '');
    await (await bench.start(sandbox, spec)).ended;
    await sandbox.forget(spec.id, spec.data);
    expect(await lstat(spec.data).catch(({ code }: NodeJS.ErrnoException) => code)).to.equal('ENOENT');
    expect(await readdir(join(bench.base, 'precious'))).to.deep.equal(['file']);
  });
});

describe('the system calls of extensions', () => {
  it('are known for both architectures, and refused as a whole for others', () => {
    for (const arch of ['x64', 'arm64'])
      expect(systemCallFilter(arch)?.length ?? 0, arch).to.be.greaterThan(800);
    expect(systemCallFilter('ppc64')).to.equal(null);
    for (const column of [0, 1]) {
      const numbers = Object.values(SYSTEM_CALLS).flatMap((row) => row[column] ?? []);
      expect(new Set(numbers).size).to.equal(numbers.length);
    }
  });

  it('in a checkout are those of the unit', async function () {
    const groups = (name: string): readonly string[] =>
      execFileSync('systemd-analyze', ['syscall-filter', name], { encoding: 'utf8' })
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
        .filter((line) => line !== '' && !line.startsWith('#'))
        .flatMap((line) => (line.startsWith('@') ? groups(line) : [line]));
    const unit = await readFile(join(ROOT, 'deploy/root/usr/lib/systemd/system/svc-plugin@.service'), 'utf8');
    const lines = [...unit.matchAll(/^SystemCallFilter=(~?)(.+)$/gm)];
    expect(lines.map(([, not]) => not)).to.deep.equal(['', '~']);
    let allowed: ReadonlySet<string>;
    try {
      const [plus = [], minus = []] = lines.map(([, , names = '']) =>
        names.split(' ').flatMap((name) => (name.startsWith('@') ? groups(name) : [name])),
      );
      allowed = new Set(plus.filter((name) => !minus.includes(name)));
    } catch {
      return this.skip(); // needs systemd-analyze
    }
    const more = Object.keys(SYSTEM_CALLS).filter((name) => !allowed.has(name));
    expect(more, 'allowed in a checkout alone').to.deep.equal([]);
    // Numbers of this machine, where it has the headers; what came after Linux 6.6 is not in each systemd.
    const header = await readFile('/usr/include/x86_64-linux-gnu/asm/unistd_64.h', 'utf8').catch(() => '');
    for (const [, name = '', number] of header.matchAll(/^#define __NR_(\w+) (\d+)$/gm)) {
      if (!allowed.has(name) || Number(number) > 452) continue;
      expect(SYSTEM_CALLS[name]?.[0], name).to.equal(Number(number));
    }
  });
});

describe('an extension’s own socket', () => {
  it('is connected to as it is; a link, a file or nothing in its place is none', async () => {
    const base = await tempDir();
    const path = join(base, 'http.sock');
    expect(await extensionSocket(path)).to.equal(null);
    const server = createServer((socket) => socket.end('mine')).listen(path);
    await once(server, 'listening');
    const socket = await extensionSocket(path);
    const [said] = (await once(connect(socket?.path ?? ''), 'data')) as [Buffer];
    expect(said.toString()).to.equal('mine');
    await socket?.close();
    await symlink(path, join(base, 'link.sock'));
    await writeFile(join(base, 'file.sock'), '');
    for (const name of ['link.sock', 'file.sock'])
      expect(await extensionSocket(join(base, name)), name).to.equal(null);
    server.close();
    await removeDir(base);
  });
});

describe('an extension without a sandbox, where the configuration allows it', () => {
  it('has the same environment with the node’s folders, is limited in its memory, and ends with its children', async () => {
    const bench = new Bench(await tempDir());
    const none = new NoSandbox(process.execPath);
    const spec = await bench.spec(
      'org.example.free',
      `import { spawn } from 'node:child_process';
       console.log(JSON.stringify(process.env));
       console.log('child', spawn('sleep', ['600']).pid);`,
    );
    const running = await bench.start(none, spec);
    const pid = Number((await bench.line(/^child/)).split(' ')[1]);
    await running.stop();
    expect(await running.ended).to.deep.equal({ exit: 'SIGTERM' });
    expect(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).to.equal('');
    expect(JSON.parse(bench.lines[0] ?? '')).to.deep.equal({
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: spec.data,
      LANG: 'C.UTF-8',
      SVC_PLUGIN_ID: spec.id,
      SVC_PLUGIN_SOCKET: join(spec.sockets, 'host.sock'),
      SVC_PLUGIN_HTTP_SOCKET: join(spec.sockets, 'http.sock'),
      SVC_PLUGIN_DATA: spec.data,
      SVC_NODE_PROFILE: 'drone',
    });
    const hog = await bench.spec(
      'org.example.freehog',
      `const kept = []; setInterval(() => kept.push(Buffer.alloc(4 << 20, 1)), 5);`,
    );
    expect(await (await bench.start(none, hog)).ended).to.deep.equal({ exit: 'out of memory' });
    await none.forget(spec.id, spec.data);
    expect(await lstat(spec.data).catch(({ code }: NodeJS.ErrnoException) => code)).to.equal('ENOENT');
    await removeDir(bench.base);
  });
});

describe('the devices of extensions', () => {
  let base: string;
  before(async () => {
    base = await tempDir();
    const [dev, sys] = [join(base, 'dev'), join(base, 'sys')];
    for (const folder of [
      'dev/bus/usb/001',
      'dev/dri',
      'sys/devices/usb1/1-2/1-2:1.0',
      'sys/class/tty/ttyACM0',
    ])
      await mkdir(join(base, folder), { recursive: true });
    for (const name of [
      'ttyACM0',
      'ttyACM1',
      'i2c-1',
      'spidev0.0',
      'gpiochip0',
      'video0',
      'mem',
      'sda',
      'tty1',
    ])
      await writeFile(join(dev, name), '');
    await symlink('ttyACM0', join(dev, 'serial0'));
    for (const name of ['001', '007']) await writeFile(join(dev, 'bus/usb/001', name), '');
    await writeFile(join(sys, 'devices/usb1/1-2/busnum'), '1\n');
    await writeFile(join(sys, 'devices/usb1/1-2/devnum'), '7\n');
    await symlink(join(sys, 'devices/usb1/1-2/1-2:1.0'), join(sys, 'class/tty/ttyACM0/device'));
  });
  after(async () => removeDir(base));

  for (const [grants, names] of [
    [[], []],
    [['network.outbound', 'mavlink.write'], []],
    [['hardware.uart'], ['ttyACM1']], // not the flight controller, nor the other name that it has
    [['hardware.usb'], ['bus/usb/001/001']], // nor the raw device behind it
    [
      ['hardware.i2c', 'hardware.spi'],
      ['i2c-1', 'spidev0.0'],
    ],
    [['hardware.gpio_out'], ['gpiochip0']],
    [['hardware.usb.uvc'], ['video0']],
    [['hardware.gpu'], ['dri']],
  ] as const)
    it(`${grants.join(' and ') || 'no grant'}: ${names.join(', ') || 'none'}`, async () => {
      const folders = { dev: join(base, 'dev'), sys: join(base, 'sys') };
      const found = await devicesOf(new Set(grants), [join(base, 'dev/ttyACM0')], folders);
      expect(found.toSorted()).to.deep.equal(names.map((name) => join(base, 'dev', name)));
    });
});
