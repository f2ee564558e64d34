import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { armable } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const key = { 'x-svc-key': KEY };

/** A systemctl that keeps what it was asked for, and knows one unit whose process changes with each restart. */
const SYSTEMCTL = `#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/asked"
case "$1" in
  show)
    pid=$(cat "$here/pid" 2>/dev/null || echo 100)
    for unit in "$@"; do
      case "$unit" in
        svc-hostapd.service) printf 'Id=%s\\nLoadState=loaded\\nActiveState=active\\nSubState=running\\nMainPID=%s\\nActiveEnterTimestampMonotonic=5\\n\\n' "$unit" "$pid" ;;
        svc-*.service) printf 'Id=%s\\nLoadState=not-found\\nActiveState=inactive\\nSubState=dead\\nMainPID=0\\nActiveEnterTimestampMonotonic=0\\n\\n' "$unit" ;;
      esac
    done ;;
  restart) echo 101 > "$here/pid" ;;
  reboot|poweroff) [ ! -f "$here/refuses" ] || { echo "Call failed: Access denied" >&2; exit 1; } ;;
esac
`;

describe('services and the system', () => {
  let node: TestNode;
  let bin = '';

  const post = async (path: string, body: unknown = {}): ReturnType<TestNode['post']> =>
    node.post(path, body, key);
  const get = async (path: string): ReturnType<TestNode['json']> => node.json(path, { headers: key });
  const asked = async (): Promise<string> => readFile(join(bin, 'asked'), 'utf8');

  before(async () => {
    bin = await tempDir();
    await writeFile(join(bin, 'systemctl'), SYSTEMCTL);
    await chmod(join(bin, 'systemctl'), 0o755);
    const path = `${bin}:${process.env['PATH'] ?? ''}`;
    node = await TestNode.start({
      pairing: { key: KEY },
      args: ['--helper'],
      env: { PATH: path, SVC_HELPER_PATH: path },
    });
  });

  after(async () => {
    await node.stop();
    await removeDir(bin);
  });

  it('the list: our processes with their memory, and the units that systemd has loaded', async () => {
    const { status, body } = await get('/api/services');
    expect(status).to.equal(200);
    expect(body['systemd_available']).to.equal(true);
    const services = body['services'] as Record<string, unknown>[];
    const link = services.find(({ name }) => name === 'svc-link');
    expect(link).to.include({ kind: 'process', state: 'running', pid: node.pid('svc-link') });
    expect(link?.['memory_mb']).to.be.greaterThan(5);
    const unit = services.find(({ name }) => name === 'svc-hostapd');
    expect(unit).to.include({
      kind: 'unit',
      state: 'running',
      sub_state: 'running',
      pid: 100,
      restarts: null,
    });
    expect(services.map(({ name }) => name)).to.not.include('svc-wfb');
  });

  it('a restart answers with the process before and the one after, whatever spelling the name has', async () => {
    for (const name of ['svc-residual', 'residual', 'svc-link.service']) {
      const own = name.includes('link') ? 'svc-link' : 'svc-residual';
      const before = node.pid(own);
      const { status, body } = await post(`/api/services/${name}/restart`);
      expect(status, name).to.equal(200);
      expect(body).to.include({ status: 'ok', name: own, pid_before: before });
      expect(body['pid_after']).to.not.equal(before);
      await node.until((services) => services.some(({ pid }) => pid === body['pid_after']));
    }
    const unit = await post('/api/services/hostapd/restart');
    expect(unit.body).to.deep.equal({ status: 'ok', name: 'svc-hostapd', pid_before: 100, pid_after: 101 });
    expect(await asked()).to.include('restart svc-hostapd.service\n');
  });

  it('what is not ours and not allow-listed is 404, and systemd is not asked', async () => {
    for (const name of ['sshd', 'svc-wfb', 'nothing']) {
      const { status, body } = await post(`/api/services/${name}/restart`);
      expect([status, body['code']], name).to.deep.equal([404, 'E_NOT_FOUND']);
    }
    expect(await asked()).to.not.include('restart svc-wfb');
    expect(await asked()).to.not.include('sshd');
  });

  it('the front restarts itself: 202, and then another process answers', async () => {
    const before = node.pid('svc-control');
    const { status, body } = await post('/api/services/svc-control/restart');
    expect([status, body['status'], body['pid_before']]).to.deep.equal([202, 'accepted', before]);
    await node.until((services) =>
      services.some(
        ({ name, pid, state }) => name === 'svc-control' && pid !== before && state === 'running',
      ),
    );
    expect((await get('/api/ping')).status).to.equal(200);
    const [whole, diagnostics] = [await get('/api/status'), await get('/api/v1/diagnostics')];
    expect(
      (diagnostics.body['agent'] as { uptime_seconds: number }).uptime_seconds,
      'of the node, not of svc-control',
    )
      .to.be.at.least(Number(whole.body['uptime_seconds']))
      .and.at.least(2);
  });

  it('reboot and power-off are systemd’s to do; what it refuses is told', async () => {
    expect((await post('/api/system/reboot')).body).to.deep.equal({ status: 'ok', action: 'reboot' });
    expect((await post('/api/system/shutdown')).body).to.deep.equal({ status: 'ok', action: 'poweroff' });
    expect(await asked())
      .to.match(/^reboot$/m)
      .and.to.match(/^poweroff$/m);
    await writeFile(join(bin, 'refuses'), '');
    const refused = await post('/api/system/reboot');
    expect([refused.status, refused.body['code']]).to.deep.equal([502, 'E_UPSTREAM']);
    expect(refused.body['detail']).to.include('Access denied');
  });

  it('svc-helper may be killed: it comes back, and does what it is asked for', async () => {
    await rm(join(bin, 'refuses'), { force: true });
    await node.killAndAwaitSuccessor('svc-helper');
    expect((await post('/api/system/shutdown')).body).to.deep.equal({ status: 'ok', action: 'poweroff' });
  });

  it('/llms.txt tells whoever finds the node how to ask for access, without a credential', async () => {
    const { status, type, text } = await node.request('/llms.txt');
    expect([status, type]).to.deep.equal([200, 'text/plain']);
    expect(text)
      .to.match(/^# svc /)
      .and.include('Never use the pairing key')
      .and.include('](/openapi.json)');
  });

  it('the consolidated status and the metrics', async () => {
    const { body } = await get('/api/status/full');
    expect(body).to.deep.include({ profile: 'drone', role: null, radio: null, armed: false });
    expect(body['video'], 'as GET /api/video').to.deep.include({ source: null });
    expect((await get('/api/video/snapshot')).body).to.include({
      code: 'E_NO_FRAME',
      detail: 'Video is off in the config (video.source: none).',
    });
    expect(body['telemetry']).to.include({ armed: false });
    expect(body['resources']).to.have.property('cpu_percent');
    const { type, text } = await node.request('/metrics', { headers: key });
    expect(type).to.equal('text/plain');
    expect(text).to.match(/^svc_service_up\{name="svc-link"\} 1$/m);
    expect(text).to.match(/^svc_fc_connected 1$/m);
    expect(text).to.match(/^svc_mavlink_rx_frames [1-9]\d*$/m);
    expect(text).to.not.include('NaN');
    // Measured from the first question on, which waits for some measurements.
    const least = /^svc_control_nodejs_eventloop_lag_min_seconds (\S+)$/m.exec(text)?.[1];
    expect(Number(least)).to.be.within(0.001, 1);
  });

  it('J6 while armed what carries the link is not restarted, nor the node rebooted; the residual is', async () => {
    await armable(node, key);
    expect((await post('/api/command', { cmd: 'arm' })).body['status']).to.equal('accepted');
    for (const path of [
      '/api/services/svc-link/restart',
      '/api/services/link/restart',
      '/api/services/svc-supervisor/restart',
      '/api/v1/system/restart-supervisor',
      '/api/system/reboot',
      '/api/system/shutdown',
    ]) {
      const { status, body } = await post(path);
      expect([status, body['code']], path).to.deep.equal([409, 'E_ARMED']);
    }
    expect((await post('/api/services/svc-residual/restart')).status).to.equal(200);
  });

  it('the supervisor begins anew with the same process id, and every other process is another one', async () => {
    const before = node.services;
    const { pid } = node.supervisor;
    expect((await post('/api/v1/system/restart-supervisor', { force: true })).status).to.equal(202);
    await node.until(
      (services) =>
        services.length === before.length &&
        services.every(
          (service) =>
            service.state === 'running' &&
            (service.name === 'svc-supervisor' || before.every((old) => old.pid !== service.pid)),
        ),
    );
    expect(node.pid('svc-supervisor')).to.equal(pid);
    expect((await get('/api/ping')).status).to.equal(200);
  });
});

describe('a machine without systemd', () => {
  it('says so: 501 for reboot, and the list without units', async () => {
    // Nothing but node itself is on this PATH.
    const bin = await tempDir();
    const node = await TestNode.start({
      pairing: { key: KEY },
      args: ['--helper'],
      env: { PATH: bin, SVC_HELPER_PATH: bin },
    });
    const { status, body } = await node.post('/api/system/reboot', { force: true }, key);
    expect([status, body['code'], body['missing']]).to.deep.equal([501, 'E_NOT_IMPLEMENTED', 'systemctl']);
    const { body: list } = await node.json('/api/services', { headers: key });
    expect(list['systemd_available']).to.equal(false);
    await node.stop();
    await removeDir(bin);
  });
});

describe('a node without svc-helper', () => {
  it('answers what that would do with 501 and its name, asks systemd for nothing, and restarts its own processes', async () => {
    const bin = await tempDir();
    await writeFile(join(bin, 'systemctl'), SYSTEMCTL, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const node = await TestNode.start({ pairing: { key: KEY }, env });
    for (const path of ['system/reboot', 'system/shutdown', 'services/svc-hostapd/restart']) {
      const { status, body } = await node.post(`/api/${path}`, { force: true }, key);
      expect([status, body['code'], body['missing']], path).to.deep.equal([
        501,
        'E_NOT_IMPLEMENTED',
        'svc-helper',
      ]);
      expect(body['detail']).to.include('ENOENT').and.to.include('apt install ./svc_');
    }
    expect(await readFile(join(bin, 'asked'), 'utf8')).to.match(/^(?:show .*\n)+$/);
    expect((await node.post('/api/services/svc-residual/restart', {}, key)).status).to.equal(200);
    await node.stop();
    await removeDir(bin);
  });
});
