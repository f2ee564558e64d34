import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

type Attributes = Readonly<Record<string, string>>;

/** Trees as the kernel makes them below /sys and /dev, in a folder of the test. */
export class DeviceTree {
  readonly sys: string;
  readonly dev: string;

  constructor(base: string) {
    this.sys = join(base, 'sys');
    this.dev = join(base, 'dev');
  }

  get env(): Readonly<Record<string, string>> {
    return { SVC_SYS_DIR: this.sys, SVC_DEV_DIR: this.dev };
  }

  /** A device with its attributes, bound to a driver. @param path below `devices` @returns its folder */
  async device(path: string, attributes: Attributes, driver: string | null = null): Promise<string> {
    const folder = join(this.sys, 'devices', path);
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(attributes)) await writeFile(join(folder, name), `${text}\n`);
    if (driver !== null) {
      const target = join(this.sys, 'bus/any/drivers', driver);
      await mkdir(target, { recursive: true });
      await link(target, join(folder, 'driver'));
    }
    return folder;
  }

  /** Another place where the kernel shows a device: a bus or a class. @param path below the tree */
  async listed(folder: string, path: string): Promise<void> {
    await link(folder, join(this.sys, path));
  }

  async node(name: string): Promise<string> {
    const path = join(this.dev, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '');
    return path;
  }

  /** A USB device on a port, for example `1-1.4`. @returns its path below `devices` */
  async usb(port: string, attributes: Attributes): Promise<string> {
    const path = `pci0000:00/usb1/${port}`;
    const number = attributes['devnum'] ?? port.replaceAll(/\D/g, '');
    const folder = await this.device(
      path,
      { busnum: '1', speed: '480', ...attributes, devnum: number },
      'usb',
    );
    await this.listed(folder, `bus/usb/devices/${port}`);
    await this.node(`bus/usb/001/${number.padStart(3, '0')}`);
    return path;
  }

  async unplugUsb(port: string): Promise<void> {
    await rm(join(this.sys, `bus/usb/devices/${port}`), { force: true });
    await rm(join(this.sys, `devices/pci0000:00/usb1/${port}`), { recursive: true, force: true });
  }

  /** A serial port on the first interface of a USB device. @returns its path in /dev */
  async usbSerial(name: string, usb: string, byId: string | null): Promise<string> {
    const port = usb.split('/').at(-1) ?? '';
    const part = await this.device(`${usb}/${port}:1.0`, { bInterfaceNumber: '00' }, 'cdc_acm');
    const entry = await this.device(`${usb}/${port}:1.0/tty/${name}`, { type: '4' });
    await link(part, join(entry, 'device'));
    await this.listed(entry, `class/tty/${name}`);
    const node = await this.node(name);
    if (byId !== null) await link(node, join(this.dev, 'serial/by-id', byId));
    return node;
  }

  async unplugSerial(name: string, byId: string | null): Promise<void> {
    await rm(join(this.sys, 'class/tty', name), { force: true });
    await rm(join(this.dev, name), { force: true });
    if (byId !== null) await rm(join(this.dev, 'serial/by-id', byId), { force: true });
  }
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  await symlink(relative(dirname(path), target), path);
}
