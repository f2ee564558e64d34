import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { RealNetworkManager } from '../support/network/network-manager.ts';
import { TestNode } from '../support/node.ts';

const run = promisify(execFile);

describe('a wired network, with the real NetworkManager', function () {
  this.timeout(120_000);
  let manager: RealNetworkManager;
  let node: TestNode;

  /** A request from beside the node: it is in a network namespace. */
  const send = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const url = `http://127.0.0.1:${node.port}/api/v1/network${path}`;
    const content = ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    const args = [...manager.prefix.slice(1), 'curl', '-s', '-X', method, '-H', `x-svc-key: ${KEY}`];
    const { stdout } = await run('nsenter', [...args, ...(body === undefined ? [] : content), url]);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  before(async () => {
    manager = await RealNetworkManager.start();
    node = await TestNode.start({
      pairing: { key: KEY },
      args: ['--helper'],
      env: manager.env,
      prefix: manager.prefix,
    });
  });

  after(async () => {
    await node?.stop();
    await manager?.stop();
  });

  it('shows the address and the uplink that the network gave', async () => {
    const body = await send('GET', '');
    const eth0 = (body['interfaces'] as { name: string; addresses: string[] }[]).find(
      ({ name }) => name === 'eth0',
    );
    expect(eth0?.addresses.join(' ')).to.match(/192\.168\.77\.\d+\/24/);
    expect((body['uplinks'] as unknown[])[0]).to.include({
      interface: 'eth0',
      kind: 'ethernet',
      gateway: '192.168.77.1',
      metric: 100,
      metered: false,
    });
  });

  it('gives a fixed address, and the one of the network again', async () => {
    const fixed = { interface: 'eth0', mode: 'static', address: '192.168.77.20/24', gateway: '192.168.77.1' };
    const first = await send('PUT', '/ethernet', fixed);
    expect(first['addresses'], JSON.stringify(first)).to.include('192.168.77.20/24');
    expect(first['gateway']).to.equal('192.168.77.1');
    const again = await send('PUT', '/ethernet', { interface: 'eth0', mode: 'dhcp' });
    expect((again['addresses'] as string[])[0]).to.match(/^192\.168\.77\.(?:[5-9]\d)\/24$/);
    expect(await manager.nmcli('-t', '-f', 'NAME', 'connection', 'show')).to.match(/^svc-wired-eth0$/m);
  });

  it('says that there is no Wi-Fi card', async () => {
    const body = await send('PUT', '/client/join', { ssid: 'HomeNet', passphrase: 'correct horse' });
    expect(body).to.include({ code: 'E_NOT_IMPLEMENTED', missing: 'Wi-Fi card' });
  });

  it('goes back after 30 s when no address comes', async () => {
    await send('PUT', '/ethernet', { interface: 'eth0', mode: 'static', address: '192.168.77.20/24' });
    await manager.stopAddresses();
    const body = await send('PUT', '/ethernet', { interface: 'eth0', mode: 'dhcp' });
    expect(body).to.include({ code: 'E_UPSTREAM', reverted: true });
    expect(body['detail']).to.include('eth0 went back to what was active before');
    expect(await manager.nmcli('-t', '-f', 'IP4.ADDRESS', 'device', 'show', 'eth0')).to.include(
      '192.168.77.20/24',
    );
  });
});
