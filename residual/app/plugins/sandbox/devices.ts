import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The files below /dev that each grant opens; a folder is given with all that is in it. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  'hardware.uart': /^(?:ttyS|ttyAMA|ttyUSB|ttyACM|ttyTHS|serial)\d+$/,
  'hardware.i2c': /^i2c-\d+$/,
  'hardware.spi': /^spidev\d+\.\d+$/,
  'hardware.gpio': /^gpiochip\d+$/,
  'hardware.gpio_out': /^gpiochip\d+$/,
  'hardware.usb': /^bus\/usb\/\d+\/\d+$/,
  'hardware.usb.uvc': /^(?:video|media)\d+$/,
  'hardware.camera.csi': /^(?:video|media|v4l-subdev)\d+$|^dma_heap$/,
  'hardware.gpu': /^(?:dri|kfd|mali0)$/,
};

interface DeviceFolders {
  readonly dev: string;
  readonly sys: string;
}

/**
 * The devices that the grants open, as absolute paths.
 * @param closed devices that stay closed, by whatever name they are reached: a name that is a link to one, and the raw USB
 * device through which one is driven
 */
export async function devicesOf(
  grants: ReadonlySet<string>,
  closed: readonly string[],
  { dev, sys }: DeviceFolders = { dev: '/dev', sys: '/sys' },
): Promise<readonly string[]> {
  const classes = Object.entries(CLASSES).flatMap(([grant, names]) => (grants.has(grant) ? [names] : []));
  if (classes.length === 0) return [];
  const target = async (path: string): Promise<string> => realpath(path).catch(() => path); // it is not there
  const ports = await Promise.all(closed.map(target));
  const raw = await Promise.all(ports.map(async (port) => usbDeviceOf(basename(port), dev, sys)));
  const forbidden = new Set([...closed, ...ports, ...raw]);
  const names = [...(await namesIn(dev)), ...(await usbNames(dev))];
  const paths = names.filter((name) => classes.some((of) => of.test(name))).map((name) => join(dev, name));
  const targets = await Promise.all(paths.map(target));
  return paths.filter((path, i) => !forbidden.has(path) && !forbidden.has(targets[i] ?? path));
}

async function usbNames(dev: string): Promise<readonly string[]> {
  const buses = await namesIn(join(dev, 'bus/usb'));
  const names = buses.map(async (bus) =>
    (await namesIn(join(dev, 'bus/usb', bus))).map((name) => `bus/usb/${bus}/${name}`),
  );
  return (await Promise.all(names)).flat();
}

/** The raw device (usbfs) behind a serial port; null if it is not on USB. */
async function usbDeviceOf(port: string, dev: string, sys: string): Promise<string | null> {
  let folder = await realpath(join(sys, 'class/tty', port, 'device')).catch(() => '/');
  for (; folder !== '/' && folder !== sys; folder = dirname(folder)) {
    const [bus, number] = await Promise.all(
      ['busnum', 'devnum'].map(async (name) => readFile(join(folder, name), 'utf8').catch(() => '')),
    );
    if (bus !== undefined && number !== undefined && bus !== '' && number !== '')
      return join(dev, 'bus/usb', bus.trim().padStart(3, '0'), number.trim().padStart(3, '0'));
  }
  return null;
}

/** Empty if there is no such folder: the machine has no such bus. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
