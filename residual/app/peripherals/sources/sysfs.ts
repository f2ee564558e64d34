import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../../../shared/errors.ts';
import { plainText } from '../../../../shared/plain-text.ts';

/** Where the kernel shows its devices: `/sys`, `/dev` and `/proc`; elsewhere in tests. */
export interface Trees {
  readonly sys: string;
  readonly dev: string;
  readonly proc: string;
}

const MAX_CHARS = 128;

/** The names in a folder, sorted; none if there is no such folder: the kernel has no such bus. @throws Error if unreadable */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/** One attribute as text; null if the device does not have it, has just gone, or does not give it. */
export async function attribute(folder: string, name: string): Promise<string | null> {
  const raw = await readFile(join(folder, name), 'utf8').catch(() => '');
  // A device writes its own words: they are text of a stranger.
  const text = plainText(raw).trim().slice(0, MAX_CHARS);
  return text === '' ? null : text;
}

/** The last name of what a link leads to, such as the driver of a device; null if there is no such link. */
export async function linkName(folder: string, name: string): Promise<string | null> {
  return readlink(join(folder, name)).then(basename, () => null);
}

/** The folder of the device behind an entry of a class, null if it has none: then it is no hardware. */
export async function deviceOf(entry: string): Promise<string | null> {
  let folder = await realpath(join(entry, 'device')).catch(() => null);
  // Newer kernels have two devices of their own between a UART and its port.
  while (folder !== null && (await linkName(folder, 'subsystem')) === 'serial-base') folder = dirname(folder);
  return folder;
}

/** A USB device, as its own descriptors name it. */
export interface UsbDevice {
  readonly folder: string;
  /** Bus and ports, for example `1-1.4`. */
  readonly path: string;
  readonly vendorId: string;
  readonly productId: string;
  readonly manufacturer: string | null;
  readonly product: string | null;
  readonly serial: string | null;
  /** The interface through which it was reached, two hexadecimal digits; null for the device itself. */
  readonly interface: string | null;
}

/** The USB device that a device is, or is a part of. */
export async function usbOf(device: string | null): Promise<UsbDevice | null> {
  let number: string | null = null;
  for (let folder = device ?? '/'; folder !== '/'; folder = dirname(folder)) {
    number ??= await attribute(folder, 'bInterfaceNumber');
    const vendorId = await attribute(folder, 'idVendor');
    if (vendorId === null) continue;
    return {
      folder,
      path: basename(folder),
      vendorId: vendorId.toLowerCase(),
      productId: (await attribute(folder, 'idProduct'))?.toLowerCase() ?? '0000',
      manufacturer: await attribute(folder, 'manufacturer'),
      product: await attribute(folder, 'product'),
      serial: await attribute(folder, 'serial'),
      interface: number,
    };
  }
  return null;
}
