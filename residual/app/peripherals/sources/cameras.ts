import { basename, join } from 'node:path';
import { findCameras } from '../../../../shared/video/cameras.ts';
import { type FoundPeripheral, usbIdentity, usbPart } from './found.ts';
import { deviceOf, linkName, type Trees, usbOf } from './sysfs.ts';
import type { UsbNames } from './usb-names.ts';

/** The V4L2 devices that give pictures; none is opened. @throws Error if the list cannot be read */
export async function findVideo({ sys, dev }: Trees, names: UsbNames): Promise<readonly FoundPeripheral[]> {
  const { cameras, problem } = findCameras(sys, dev);
  if (problem !== null) throw new Error(problem);
  const found: FoundPeripheral[] = [];
  for (const { device_path: path, label } of cameras) {
    const where = basename(path);
    const device = await deviceOf(join(sys, 'class/video4linux', where));
    const usb = await usbOf(device);
    const bus = device === null ? null : await linkName(device, 'subsystem');
    found.push({
      ...(await usbPart(usb, names)),
      kind: 'camera',
      identity: usb === null ? (device === null ? where : basename(device)) : usbIdentity(usb),
      where,
      name: `Camera ${label ?? where} (${where})`,
      bus: usb === null ? bus : 'usb',
      device_paths: [path],
      driver: device === null ? null : await linkName(device, 'driver'),
      facts: { label },
    });
  }
  return found;
}
