import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type FoundPeripheral, usbIdentity, usbPart, usbWords } from './found.ts';
import { attribute, deviceOf, linkName, namesIn, type Trees, usbOf } from './sysfs.ts';
import type { UsbNames } from './usb-names.ts';

/** ARPHRD of the kernel. */
const TYPES: Readonly<Record<string, string>> = { 1: 'ethernet', 280: 'can' };
const WORDS: Readonly<Record<string, string>> = {
  wifi: 'Wi-Fi',
  ethernet: 'Ethernet',
  can: 'CAN',
  gsm: 'Modem',
};

/** The network interfaces that are hardware; those that only the kernel makes (lo, bridges, tunnels) are not peripherals. */
export async function findNetwork({ sys }: Trees, names: UsbNames): Promise<readonly FoundPeripheral[]> {
  const folder = join(sys, 'class/net');
  const found: FoundPeripheral[] = [];
  for (const where of await namesIn(folder)) {
    const entry = join(folder, where);
    const device = await deviceOf(entry);
    if (device === null) continue;
    const usb = await usbOf(device);
    const kind = await kindOf(entry);
    const words = `${WORDS[kind ?? ''] ?? 'Network interface'} ${where}`;
    found.push({
      ...(await usbPart(usb, names)),
      kind: 'network',
      identity: usb === null ? where : usbIdentity(usb),
      where,
      name: usb === null ? words : `${words} of ${await usbWords(usb, names)}`,
      bus: usb === null ? await linkName(device, 'subsystem') : 'usb',
      device_paths: [],
      driver: await linkName(device, 'driver'),
      facts: {
        interface: where,
        kind,
        mac: await attribute(entry, 'address'),
        state: await attribute(entry, 'operstate'),
      },
    });
  }
  return found;
}

async function kindOf(entry: string): Promise<string | null> {
  const wireless = await Promise.any([access(join(entry, 'phy80211')), access(join(entry, 'wireless'))]).then(
    () => true,
    () => false,
  );
  if (wireless) return 'wifi';
  if ((await attribute(entry, 'uevent'))?.includes('DEVTYPE=wwan') === true) return 'gsm';
  return TYPES[(await attribute(entry, 'type')) ?? ''] ?? null;
}
