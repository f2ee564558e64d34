import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../../shared/errors.ts';
import type { PeripheralKind } from '../../../../shared/schemas/peripherals.ts';
import { findVideo } from './cameras.ts';
import type { FoundPeripheral } from './found.ts';
import { findGpio } from './gpio.ts';
import { findI2c } from './i2c.ts';
import { findNetwork } from './network.ts';
import { findSerial } from './serial.ts';
import { attribute, namesIn, type Trees } from './sysfs.ts';
import { findUsb } from './usb.ts';
import type { UsbNames } from './usb-names.ts';

/** Each kind of peripheral, by what finds it; one that throws says nothing about the others. */
export const SOURCES: Readonly<
  Record<PeripheralKind, (trees: Trees, names: UsbNames) => Promise<readonly FoundPeripheral[]>>
> = {
  usb: findUsb,
  serial: findSerial,
  camera: findVideo,
  i2c: findI2c,
  gpio: findGpio,
  network: findNetwork,
};

/** The subsystems of the kernel whose events can change what the sources find. */
export const SUBSYSTEMS = ['usb', 'tty', 'video4linux', 'i2c', 'i2c-dev', 'gpio', 'net'] as const;

/** Text that changes when something is plugged in or out; it costs a few folders, not every attribute. */
export async function fingerprint({ sys, dev }: Trees): Promise<string> {
  const usb = join(sys, 'bus/usb/devices');
  const folders = [
    usb,
    join(sys, 'class/tty'),
    join(sys, 'class/video4linux'),
    join(sys, 'bus/i2c/devices'),
    join(sys, 'bus/gpio/devices'),
    join(sys, 'class/net'),
    join(dev, 'serial/by-id'),
  ];
  const seen = folders.map(async (folder) => {
    const names = await namesIn(folder).catch((error: unknown) => [messageOf(error)]);
    // Another device in the same port gets another number; so does a port that is a link to another device.
    const marks =
      folder === usb
        ? names.map(async (name) => (await attribute(join(folder, name), 'devnum')) ?? '')
        : names.map(async (name) =>
            folder.startsWith(dev) ? realpath(join(folder, name)).catch(() => '') : '',
          );
    return [folder, ...names, ...(await Promise.all(marks))].join('\n');
  });
  return (await Promise.all(seen)).join('\n');
}
