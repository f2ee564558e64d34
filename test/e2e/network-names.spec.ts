import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { Nmcli } from '../../front/machine/network/nmcli.ts';
import { MockNetworkManager } from '../support/network/network-manager.ts';

const UUID = '11111111-2222-4333-8444-555555555555';
/** What nmcli itself writes between names. */
const PIECES = [
  '\n',
  ':',
  '\\',
  '\t',
  'a',
  ' ',
  'ä',
  '"',
  ';',
  '=',
  '\nGENERAL.DEVICE:',
  'eth9',
  '\nIP4.ADDRESS[1]:192.0.2.1/24',
  '\n802-11-wireless.mode:ap',
  'connection.id:',
  `:${UUID.replace('1', '9')}:802-3-ethernet:yes:eth0`,
];

/** A key file holds line ends, tabs and leading spaces as escapes. */
function inFile(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll(' ', '\\s');
}

describe('names of connections and networks, through the real nmcli', function () {
  this.timeout(240_000);
  let manager: MockNetworkManager;
  let nmcli: Nmcli;
  let file: string;
  before(async () => {
    manager = await MockNetworkManager.start();
    nmcli = new Nmcli({ ...process.env, DBUS_SYSTEM_BUS_ADDRESS: manager.address });
    file = join(manager.profiles, 'named.nmconnection');
  });
  after(async () => manager?.stop());

  const save = async (name: string, ssid: string): Promise<void> => {
    const bytes = [...Buffer.from(ssid)].map((byte) => `${byte};`).join('');
    const connection = `[connection]\nid=${inFile(name)}\nuuid=${UUID}\ntype=wifi\ninterface-name=wlan0\nautoconnect=false\n`;
    await writeFile(file, `${connection}[wifi]\nssid=${bytes}\nmode=infrastructure\n`, { mode: 0o600 });
    await manager.nmcli('connection', 'load', file);
    await rm(file);
  };
  const check = async (name: string, ssid: string): Promise<void> => {
    const devices = await nmcli.devices();
    await save(name, ssid);
    const before = (await nmcli.profiles()).filter(({ uuid }) => uuid !== UUID);
    expect(before.map((profile) => profile.name)).to.deep.equal(['HomeNet']);
    expect(await nmcli.devices()).to.deep.equal(devices);
    expect(devices.map((device) => device.name)).to.have.members(['wlan0', 'eth0']);
    const found = (await nmcli.wifiProfiles()).find(({ uuid }) => uuid === UUID);
    expect(found).to.deep.equal({
      uuid: UUID,
      name,
      kind: 'wifi',
      autoconnect: false,
      device: null,
      ssid,
      hotspot: false,
      channel: null,
      open: true,
    });
  };

  it('a name that looks like another interface makes none up, also while its connection is active', async () => {
    const name = 'x\nGENERAL.DEVICE:eth9\nGENERAL.TYPE:ethernet\nIP4.ADDRESS[1]:192.0.2.1/24';
    await check(name, 'y\n802-11-wireless.mode:ap');
    await manager.nmcli('connection', 'up', 'uuid', UUID, 'ifname', 'wlan0').catch(() => undefined); // the mock may not know it
    expect((await nmcli.devices()).map((device) => device.name)).to.have.members(['wlan0', 'eth0']);
  });

  it('whatever stands in them comes back character for character', async () => {
    const words = fc
      .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
      .map((parts) => `n${parts.join('')}n`);
    await fc.assert(
      fc.asyncProperty(words, words, async (name, ssid) =>
        check(name, Buffer.from(ssid).subarray(0, 32).toString().replaceAll('\ufffd', '')),
      ),
      { numRuns: 12, endOnFailure: true },
    );
  });
});
