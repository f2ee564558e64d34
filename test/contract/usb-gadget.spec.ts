import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const run = promisify(execFile);
const SCRIPT = join(ROOT, 'deploy/root/usr/lib/svc/usb-gadget');

/** The script with a tree of files instead of the kernel's configfs, which would make attributes by itself. */
describe('the USB network', () => {
  let base: string;
  let gadget: string;

  const program = async (name: string, text: string): Promise<void> =>
    writeFile(join(base, 'bin', name), `#!/bin/sh\necho "${name} $*" >> ${base}/asked\n${text}\n`, {
      mode: 0o755,
    });
  const call = async (action: string): Promise<string> =>
    (
      await run('sh', [SCRIPT, action], {
        env: { PATH: `${base}/bin:/usr/bin:/bin`, SVC_USB_ROOT: base },
      })
    ).stderr;
  const asked = (): readonly string[] =>
    existsSync(join(base, 'asked')) ? readFileSync(join(base, 'asked'), 'utf8').trim().split('\n') : [];
  const read = (file: string): string => readFileSync(join(gadget, file), 'utf8').trim();

  beforeEach(async () => {
    base = await tempDir();
    gadget = join(base, 'sys/kernel/config/usb_gadget/svc');
    for (const folder of ['bin', 'etc', 'sys/class/udc', 'sys/class/net', 'run/NetworkManager'])
      await mkdir(join(base, folder), { recursive: true });
    await writeFile(join(base, 'etc/machine-id'), '0123456789abcdef0123456789abcdef\n');
    await program('nmcli', 'exit 0');
    await program('ip', 'exit 0');
    await program('rmdir', 'exit 0');
  });
  afterEach(async () => removeDir(base));

  /** What the kernel has there once the script has made its folders. */
  const kernel = async (): Promise<void> => {
    await mkdir(join(base, 'sys/class/udc/fe980000.usb'));
    await mkdir(join(gadget, 'os_desc'), { recursive: true });
    await mkdir(join(gadget, 'functions/ncm.usb0/os_desc/interface.ncm'), { recursive: true });
  };

  it('is nothing on a machine without a USB device port', async () => {
    expect(await call('start')).to.include('no USB device port');
    expect(asked()).to.deep.equal([]);
    expect(existsSync(gadget)).to.equal(false);
  });

  it('is a card that each system knows, with addresses of its own that stay, and NetworkManager serves it', async () => {
    await kernel();
    expect(await call('start')).to.equal('');
    expect(read('UDC')).to.equal('fe980000.usb');
    expect([read('idVendor'), read('idProduct')]).to.deep.equal(['0x1d6b', '0x0104']);
    const macs = ['dev_addr', 'host_addr'].map((name) => read(`functions/ncm.usb0/${name}`));
    for (const mac of macs) expect(mac).to.match(/^02(?::[0-9a-f]{2}){5}$/);
    expect(macs[0]).to.not.equal(macs[1]);
    expect(read('functions/ncm.usb0/os_desc/interface.ncm/compatible_id')).to.equal('WINNCM');
    expect(readlinkSync(join(gadget, 'configs/c.1/ncm.usb0'))).to.equal(join(gadget, 'functions/ncm.usb0'));
    expect(readlinkSync(join(gadget, 'os_desc/c.1'))).to.equal(join(gadget, 'configs/c.1'));
    const profile = join(base, 'run/NetworkManager/system-connections/svc-usb.nmconnection');
    expect(statSync(profile).mode & 0o777).to.equal(0o600);
    expect(readFileSync(profile, 'utf8')).to.include('method=shared\naddress1=192.168.7.1/24\n');
    expect(asked().filter((line) => line.startsWith('nmcli'))).to.deep.equal([
      'nmcli -t general',
      'nmcli device set usb0 managed yes',
      `nmcli connection load ${profile}`,
      'nmcli --wait 20 connection up id svc-usb ifname usb0',
    ]);

    await rm(join(base, 'asked'));
    await call('stop');
    expect(existsSync(profile)).to.equal(false);
    expect(read('UDC')).to.equal('');
    expect(readdirSync(join(gadget, 'configs/c.1'))).to.not.include('ncm.usb0');
    // The kernel refuses another order.
    expect(
      asked()
        .find((line) => line.startsWith('rmdir'))
        ?.replaceAll(`${gadget}/`, ''),
    ).to.equal(`rmdir configs/c.1/strings/0x409 configs/c.1 functions/ncm.usb0 strings/0x409 ${gadget}`);
    await call('stop');
  });

  it('has an address without NetworkManager, and takes a card that is there already as it is', async () => {
    await program('nmcli', 'exit 8');
    await mkdir(join(base, 'sys/class/net/usb0'));
    await mkdir(join(base, 'sys/class/udc/fe980000.usb'));
    expect(await call('start')).to.include('NetworkManager is not running: usb0 has 192.168.7.1/24');
    expect(existsSync(gadget)).to.equal(false);
    expect(asked().slice(1)).to.deep.equal([
      'ip address replace 192.168.7.1/24 dev usb0',
      'ip link set usb0 up',
    ]);
  });

  it('leaves the port to another gadget', async () => {
    await kernel();
    await mkdir(join(gadget, 'UDC')); // what cannot be written stands for a port that is busy
    expect(await call('start')).to.include('another gadget has the USB device port');
    expect(asked().filter((line) => !line.startsWith('rmdir'))).to.deep.equal([]);
  });
});
