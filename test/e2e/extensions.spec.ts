import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { ROOT } from '../support/node.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('extensions, as their authors and operators use them', function () {
  this.timeout(120_000);
  let plugins: PluginNode;
  let folder: string;
  before(async () => {
    folder = await tempDir();
    plugins = await PluginNode.start();
  });
  after(async () => {
    await plugins.node.stop();
    await removeDir(folder);
  });

  /** A folder of deploy/extensions/, packed and signed with the authors' commands, and installed. */
  const install = async (name: string): Promise<void> => {
    const project = join(folder, name);
    await cp(join(ROOT, 'deploy/extensions', name), project, { recursive: true });
    const key = join(folder, 'tester.key.pem');
    await writeFile(key, plugins.signer.key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const out = join(folder, `${name}.svcplug`);
    for (const args of [
      ['plugin', 'sdk', project],
      ['plugin', 'test', project],
      ['plugin', 'pack', project, '--key', key, '--signer-id', 'tester', '--output', out],
      ['plugin', 'install', out, '--yes'],
      ['plugin', 'enable', `org.svc.${name}`],
    ]) {
      const { code, stdout, stderr } = await svc(plugins.node.paths, ...args);
      expect(code, `${args.join(' ')}\n${stdout}${stderr}`).to.equal(0);
    }
  };

  it('the geofence watcher: a page, a state, two tools', async () => {
    await install('geofence-watch');
    const base = '/api/plugins/org.svc.geofence-watch';
    await plugins.until(
      'it knows where the vehicle is',
      async () => plugins.call('GET', `${base}/state`),
      ({ body }) => JSON.stringify(body).includes('"inside":true'),
    );
    const page = await plugins.call('GET', `${base}/x/index.html`);
    expect(page.headers.get('content-type')).to.include('text/html');
    expect(page.headers.get('content-security-policy')).to.include('sandbox');
    const invoke = async (tool: string, args: object) =>
      plugins.done('POST', `${base}/tools/${tool}/invoke`, { arguments: args });
    expect(JSON.stringify(await invoke('geofence_status', {}))).to.include('"inside":true');
    const far = await invoke('geofence_check', { lat: 0, lon: 0, alt_rel: 10 });
    expect(JSON.stringify(far)).to.include('"inside":false');
    const wrong = await plugins.call('POST', `${base}/tools/geofence_check/invoke`, {
      arguments: { lat: 'x' },
    });
    expect([wrong.status, wrong.body['code']]).to.deep.equal([400, 'E_BAD_REQUEST']);
  });

  it('the forwarder: telemetry arrives on another machine', async function () {
    if (noNamespaces() !== null) this.skip();
    const host = await RemoteHost.create('10.77.0.1/24', '10.77.0.2/24');
    try {
      const receiver = execFile(host.prefix[0] ?? '', [
        ...host.prefix.slice(1),
        'python3',
        '-c',
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.bind(('10.77.0.2', 9000))\nprint('bound', flush=True)\nprint(s.recv(65536).decode(), flush=True)",
      ]);
      await once(receiver.stdout ?? receiver, 'data');
      await install('telemetry-forwarder');
      const arrived = once(receiver.stdout ?? receiver, 'data') as Promise<[string]>;
      await plugins.done('PUT', '/api/plugins/org.svc.telemetry-forwarder/config', {
        key: 'address',
        value: '10.77.0.2:9000',
      });
      const [text] = await arrived;
      expect(JSON.parse(text)).to.include.keys('armed', 'position', 'attitude');
      receiver.kill();
    } finally {
      await host.destroy();
    }
  });
});
