import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type FoundPeripheral, usbIdentity, usbPart, usbWords } from './found.ts';
import { attribute, linkName, namesIn, type Trees, usbOf } from './sysfs.ts';
import type { UsbNames } from './usb-names.ts';

/** A device on a port; not its interfaces (`1-1:1.0`), nor the hub that a bus begins with (`usb1`). */
const DEVICE = /^\d+-[\d.]+$/;

/** The devices on USB. */
export async function findUsb({ sys, dev }: Trees, names: UsbNames): Promise<readonly FoundPeripheral[]> {
  const folder = join(sys, 'bus/usb/devices');
  const found: FoundPeripheral[] = [];
  for (const name of (await namesIn(folder)).filter((each) => DEVICE.test(each))) {
    const device = await realpath(join(folder, name)).catch(() => null);
    const usb = await usbOf(device);
    if (usb === null || usb.path !== name) continue; // it was unplugged just now
    const [bus, number] = [await attribute(usb.folder, 'busnum'), await attribute(usb.folder, 'devnum')];
    found.push({
      ...(await usbPart(usb, names)),
      kind: 'usb',
      identity: usbIdentity(usb),
      where: name,
      name: await usbWords(usb, names),
      bus: 'usb',
      device_paths:
        bus === null || number === null
          ? []
          : [join(dev, 'bus/usb', bus.padStart(3, '0'), number.padStart(3, '0'))],
      driver: await linkName(usb.folder, 'driver'),
      facts: { speed_mbit_s: numeric(await attribute(usb.folder, 'speed')) },
    });
  }
  return found;
}

function numeric(text: string | null): number | null {
  const value = text === null ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
