import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import type { Machine } from '../support/machine.ts';

/**
 * The plugin host's part, inside, as the node's user: it starts one extension with the compiled code of the node, tells its
 * lines and its end as JSON, and stops it when it is told to.
 */
const HOST = `
import { createServer } from 'node:net';
import { mkdirSync, rmSync } from 'node:fs';
const { chooseSandbox } = await import("/opt/svc/current/dist/residual/app/plugins/sandbox/sandbox.js");
const { forget, ...given } = JSON.parse(process.argv[2]);
const tell = (message) => console.log(JSON.stringify(message));
const sandbox = await chooseSandbox({
  installed: true, helperSocket: '/run/svc-helper.sock', allowUnsandboxed: false, node: process.execPath, onProblem: (problem) => tell({ problem }),
});
if (forget) {
  await sandbox.forget(given.id, '');
} else {
  const sockets = '/run/svc/plugins/' + given.id;
  rmSync(sockets, { recursive: true, force: true });
  mkdirSync(sockets, { recursive: true });
  await new Promise((resolve) => createServer((socket) => socket.on('error', () => undefined).end('welcome')).listen(sockets + '/host.sock', resolve));
  const spec = {
    runtime: 'node', entrypoint: 'main.mjs', install: '/var/lib/svc/plugins/' + given.id + '/1', data: '/none', sockets,
    resources: { max_ram_mb: 96, max_cpu_percent: 50, max_pids: 12 }, listenPorts: [], profile: 'drone', http: true, closedDevices: [],
    ...given, grants: new Set(given.grants),
  };
  const running = await sandbox.start(spec, (stream, line) => tell({ stream, line })).catch((error) => tell({ refused: error.message }));
  if (running) {
    tell({ started: sandbox.kind, pid: running.pid });
    process.stdin.once('data', () => running.stop());
    tell(await running.ended);
  }
}
process.exit();
`;

/** Tries each of `attempts`, by name, and tells what it gives or the code of its error. */
const TRY = `
import fs from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
const tell = async (attempts) => {
  const found = {};
  for (const [name, attempt] of Object.entries(attempts))
    found[name] = await Promise.resolve().then(attempt).then((v) => v ?? 'done', (e) => e.code ?? e.message);
  console.log(JSON.stringify(found));
};
const connected = async (options) => {
  const socket = net.connect({ ...options, timeout: 1500 }).on('timeout', () => socket.destroy(new Error('no answer')));
  await once(socket, 'connect');
  socket.destroy();
  return 'connected';
};
`;

interface Told {
  readonly line?: string;
  readonly exit?: string;
  readonly refused?: string;
  readonly started?: string;
  readonly pid?: number;
}

/** The node's unit holds its place while nothing of the node runs: its part is played by HOST. */
const HOLD = '[Service]\nType=exec\nWatchdogSec=0\nExecStart=\nExecStart=/bin/sleep infinity\n';

/** Suite: an extension as a unit of an installed node. */
export function extensionUnitSuite(booted: () => Machine): void {
  let machine: Machine;

  before(async function () {
    machine = booted();
    const dropIn = join(machine.root, 'etc/systemd/system/svc.service.d');
    await mkdir(dropIn);
    await writeFile(join(dropIn, 'test.conf'), HOLD);
    await machine.inside('systemctl', 'daemon-reload');
    await machine.inside('systemctl', 'restart', 'svc.service');
    await writeFile(join(machine.root, 'var/host.mjs'), HOST);
    await writeFile(join(machine.root, 'etc/svc/pairing.json'), '{"api_key":"secret"}', { mode: 0o644 });
    await chmod(join(machine.root, 'etc/svc'), 0o755); // so that nothing but the sandbox is in the way
  });
  after(async () => {
    await rm(join(machine.root, 'etc/systemd/system/svc.service.d'), { recursive: true });
    await rm(join(machine.root, 'etc/svc/pairing.json'));
    await rm(join(machine.root, 'var/host.mjs'));
    await machine.inside('systemctl', 'daemon-reload');
    await machine.inside('systemctl', 'restart', 'svc.service');
  });

  async function install(id: string, files: Readonly<Record<string, string>>): Promise<void> {
    const folder = join(machine.root, 'var/lib/svc/plugins', id, '1');
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text);
      await chmod(join(folder, name), 0o755);
    }
  }

  /** Runs an extension to its end. @param stopAfter stops it when it has printed that line */
  async function played(
    spec: Readonly<Record<string, unknown>>,
    stopAfter?: string,
  ): Promise<readonly Told[]> {
    const child = machine.spawnAsNode('/var/host.mjs', JSON.stringify(spec));
    const told: Told[] = [];
    for await (const text of createInterface(child.stdout)) {
      const message = JSON.parse(text) as Told;
      told.push(message);
      if (stopAfter !== undefined && message.line === stopAfter) child.stdin.write('stop\n');
    }
    return told;
  }

  const linesOf = (told: readonly Told[]): string => told.flatMap(({ line }) => line ?? []).join('\n');
  const foundBy = (told: readonly Told[]): Record<string, unknown> =>
    JSON.parse(linesOf(told)) as Record<string, unknown>;

  it('it reaches its own data and sockets, and nothing of the node, the machine or another extension', async () => {
    const other = 'org.other.thing';
    await install(other, {
      'main.mjs': `import fs from 'node:fs'; fs.writeFileSync('/data/diary', 'private'); fs.chmodSync('/data/diary', 0o666);
        console.log('written'); setInterval(() => {}, 1000);`,
    });
    const neighbour = played({ id: other, grants: [] }, 'never');
    while (!existsSync(join(machine.root, 'var/lib/private/svc-plugin', other, 'diary')))
      await machine.inside('true');
    const pidOf = async (unit: string) => machine.inside('systemctl', 'show', '-P', 'MainPID', unit);
    const node = await pidOf('svc.service');
    const beside = await pidOf(`svc-plugin@${other}.service`);
    expect([node, beside]).to.not.include('0');
    const listener = machine.spawnAsNode(
      '-e',
      `require('net').createServer((s) => s.end()).listen(9000, '0.0.0.0', () => console.log('listening'))`,
    );
    for await (const _ of createInterface(listener.stdout)) break;

    const id = 'org.example.thief';
    await install(id, {
      'main.mjs': `${TRY} const write = (path) => () => fs.writeFileSync(path, 'x');
      await tell({
        host: () => connected({ path: process.env.SVC_PLUGIN_SOCKET }),
        serves: () => once(net.createServer().listen(process.env.SVC_PLUGIN_HTTP_SOCKET).unref(), 'listening').then(() => 'yes'),
        data: write('/data/x'), tmp: write('/tmp/x'),
        pairing: () => fs.readFileSync('/etc/svc/pairing.json', 'utf8'),
        passwd: () => fs.readFileSync('/etc/passwd', 'utf8'),
        etc: () => fs.readdirSync('/etc').join(),
        node_state: () => fs.readdirSync('/var/lib/svc').join(),
        node_run: () => fs.readdirSync('/run/svc').join(),
        diary: () => fs.readFileSync('/var/lib/private/svc-plugin/${other}/diary', 'utf8'),
        diary_by_process: () => fs.readFileSync('/proc/${beside}/root/data/diary', 'utf8'),
        control: () => connected({ path: '/run/svc/control.sock' }),
        helper: () => connected({ path: '/run/svc-helper.sock' }),
        bus: () => connected({ path: '/run/dbus/system_bus_socket' }),
        systemd: () => connected({ path: '/run/systemd/private' }),
        journal: () => connected({ path: '/run/systemd/journal/stdout' }),
        node_files: () => fs.readdirSync('/opt').join(),
        own_files: write('/extension/x'), usr: write('/usr/x'), root: write('/x'), opt: write('/opt/x'),
        kill_node: () => process.kill(${node}, 9), kill_neighbour: () => process.kill(${beside}, 9),
        processes: () => fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length,
        environ: () => fs.readFileSync('/proc/${node}/environ', 'utf8'),
        loopback: () => connected({ host: '127.0.0.1', port: 9000 }),
        abstract: () => connected({ path: '\\0x' }),
        environment: () => Object.keys(process.env).sort().join(' '),
        user: () => process.getuid() > 60000 && process.getgroups().length,
      }); process.exit();`,
    });
    const told = await played({ id, grants: [] });
    // What it writes may come before the word that it has started.
    expect(
      told.find(({ started }) => started !== undefined),
      JSON.stringify(told),
    ).to.include({ started: 'systemd' });
    expect(foundBy(told)).to.deep.equal({
      host: 'connected',
      serves: 'yes',
      data: 'done',
      tmp: 'done',
      pairing: 'ENOENT',
      passwd: 'ENOENT',
      etc: '',
      node_state: 'ENOENT',
      node_run: 'ENOENT',
      diary: 'ENOENT',
      diary_by_process: 'ENOENT',
      control: 'ENOENT',
      helper: 'ENOENT',
      bus: 'ENOENT',
      systemd: 'ENOENT',
      journal: 'ENOENT',
      node_files: 'node',
      own_files: 'EROFS',
      usr: 'EACCES',
      root: 'EROFS',
      opt: 'EROFS',
      kill_node: 'EPERM',
      kill_neighbour: 'EPERM',
      processes: 1,
      environ: 'ENOENT',
      loopback: 'EAFNOSUPPORT',
      abstract: 'ECONNREFUSED',
      environment:
        'HOME LANG PATH PWD SVC_NODE_PROFILE SVC_PLUGIN_DATA SVC_PLUGIN_HTTP_SOCKET SVC_PLUGIN_ID SVC_PLUGIN_SOCKET',
      user: 1,
    });
    expect(told.at(-1)).to.deep.equal({ exit: 'code 0' });
    expect(await machine.inside('systemctl', 'is-active', 'svc.service')).to.equal('active');
    await machine.inside('systemctl', 'stop', `svc-plugin@${other}.service`);
    expect((await neighbour).at(-1)).to.deep.equal({ exit: 'code 0' });
    listener.kill();
  });

  it('with network.outbound it reaches other addresses, never loopback', async () => {
    await machine.network('ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far');
    await machine.network('ip', 'addr', 'add', '10.99.0.1/24', 'dev', 'near');
    for (const end of ['near', 'far']) await machine.network('ip', 'link', 'set', end, 'up');
    const listener = machine.spawnAsNode(
      '-e',
      `require('net').createServer((s) => s.end()).listen(9001, '0.0.0.0', () => console.log('listening'))`,
    );
    for await (const _ of createInterface(listener.stdout)) break;
    const id = 'org.example.outbound';
    await install(id, {
      'main.mjs': `${TRY} await tell({
        address: () => connected({ host: '10.99.0.1', port: 9001 }),
        loopback: () => connected({ host: '127.0.0.1', port: 9001 }),
        loopback6: () => connected({ host: '::1', port: 9001 }),
        resolver: () => fs.existsSync('/etc/resolv.conf'),
        pairing: () => fs.readFileSync('/etc/svc/pairing.json', 'utf8'),
      });`,
    });
    const told = await played({ id, grants: ['network.outbound'] });
    listener.kill();
    const refused = told[0]?.refused;
    if (refused !== undefined) {
      // A kernel that cannot filter addresses: it does not start at all.
      expect(refused).to.include('network.outbound it starts only where systemd can keep it off loopback');
      return;
    }
    expect(foundBy(told)).to.deep.equal({
      address: 'connected',
      loopback: 'no answer',
      loopback6: 'no answer',
      resolver: true,
      pairing: 'ENOENT',
    });
  });

  it('memory and processes beyond its limits end it, and not the node', async () => {
    await install('org.example.hog', {
      'main.mjs': `const kept = []; setInterval(() => kept.push(Buffer.alloc(4 << 20, 1)), 2);`,
    });
    expect((await played({ id: 'org.example.hog', grants: [] })).at(-1)).to.deep.equal({
      exit: 'out of memory',
    });
    await install('org.example.bomb', {
      main: `#!/bin/sh
n=0
while [ $n -lt 100 ]; do sleep 600 & n=$((n + 1)); echo "made $n"; done
`,
    });
    const bomb = await played({ id: 'org.example.bomb', grants: [], runtime: 'binary', entrypoint: 'main' });
    expect(linesOf(bomb)).to.include('Cannot fork').and.not.include('made 12');
    expect(await machine.inside('systemctl', 'is-active', 'svc.service')).to.equal('active');
    expect(await machine.inside('pgrep', '-c', '-f', 'sleep 600')).to.be.oneOf(['0', '']);
  });

  it('stop asks first and kills after 5 s; forgotten, nothing of it is left', async () => {
    const id = 'org.example.stubborn';
    await install(id, {
      'main.mjs': `import fs from 'node:fs'; fs.writeFileSync('/data/x', '');
        process.on('SIGTERM', () => console.log('asked')); setInterval(() => {}, 1000); console.log('up');`,
    });
    const began = performance.now();
    const told = await played({ id, grants: [] }, 'up');
    expect(performance.now() - began).to.be.greaterThan(5000);
    expect(linesOf(told)).to.equal('up\nasked');
    expect(told.at(-1)).to.deep.equal({ exit: 'SIGKILL' });
    const data = join(machine.root, 'var/lib/private/svc-plugin');
    expect(await readdir(data)).to.include(id);
    await played({ id, forget: true });
    expect(await readdir(data)).to.not.include(id);
    expect(await machine.inside('sh', '-c', 'ls /run/systemd/system')).to.not.include('stubborn');
  });

  it('a program that cannot run is told; systemd finds the unit safe; it ends with the node', async () => {
    const id = 'org.example.last';
    await install(id, { 'main.mjs': `console.log('up'); setInterval(() => {}, 1000);` });
    const broken = await played({ id, grants: [], runtime: 'binary', entrypoint: 'gone' });
    // On a busy machine systemd sees its end before it has said that it has started it.
    const { exit, refused } = broken.at(-1) ?? {};
    expect(exit ?? refused).to.match(/^code 127$|svc-plugin@org\.example\.last/);
    const running = played({ id, grants: [] });
    while ((await machine.inside('systemctl', 'is-active', `svc-plugin@${id}.service`)) !== 'active')
      await machine.inside('true');
    const score = await machine.inside(
      'systemd-analyze',
      'security',
      '--no-pager',
      `svc-plugin@${id}.service`,
    );
    const [, exposure = '10'] = /Overall exposure level .*: ([\d.]+)/.exec(score) ?? [];
    expect(Number(exposure)).to.be.at.most(1);
    await machine.inside('systemctl', 'stop', 'svc.service');
    expect((await running).at(-1)).to.deep.equal({ exit: 'code 0' });
    expect(await machine.inside('systemctl', 'is-active', `svc-plugin@${id}.service`)).to.not.equal('active');
  });
}
