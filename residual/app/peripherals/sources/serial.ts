import { basename, join } from 'node:path';
import { listSerialPorts } from '../../../../shared/flight/serial-ports.ts';
import { type FoundPeripheral, usbIdentity, usbPart, usbWords } from './found.ts';
import { deviceOf, linkName, type Trees, usbOf } from './sysfs.ts';
import type { UsbNames } from './usb-names.ts';

/** The serial ports that have hardware behind them; none is opened. */
export async function findSerial({ sys, dev }: Trees, names: UsbNames): Promise<readonly FoundPeripheral[]> {
  const found: FoundPeripheral[] = [];
  for (const { path, byId } of await listSerialPorts(dev, sys)) {
    const where = basename(path);
    const device = await deviceOf(join(sys, 'class/tty', where));
    const usb = await usbOf(device);
    const bus = device === null ? null : await linkName(device, 'subsystem');
    found.push({
      ...(await usbPart(usb, names)),
      kind: 'serial',
      identity: usb === null ? where : usbIdentity(usb),
      where,
      name: usb === null ? `Serial port ${where}` : `Serial port ${where} of ${await usbWords(usb, names)}`,
      bus: usb === null ? bus : 'usb',
      device_paths: byId === null ? [path] : [path, byId],
      driver: device === null ? null : await linkName(device, 'driver'),
      facts: {},
    });
  }
  return found;
}
