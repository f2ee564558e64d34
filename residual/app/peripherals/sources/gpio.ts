import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FoundPeripheral } from './found.ts';
import { attribute, linkName, namesIn, type Trees } from './sysfs.ts';

const CHIP = /^gpiochip\d+$/;

/** The GPIO chips; no line is requested. */
export async function findGpio({ sys, dev }: Trees): Promise<readonly FoundPeripheral[]> {
  const folder = join(sys, 'bus/gpio/devices');
  const nodes = new Set((await namesIn(dev)).filter((name) => CHIP.test(name)));
  const names = new Set([...(await namesIn(folder)).filter((name) => CHIP.test(name)), ...nodes]);
  const found: FoundPeripheral[] = [];
  for (const where of names) {
    const chip = await realpath(join(folder, where)).catch(() => null);
    const device = chip === null ? null : dirname(chip);
    const { label, lines } = await linesOf(chip, join(sys, 'class/gpio', where.replace('gpiochip', 'chip')));
    const words = [...(label === null ? [] : [label]), ...(lines === null ? [] : [`${lines} lines`])];
    found.push({
      kind: 'gpio',
      identity: where,
      where,
      name: `GPIO chip ${where}${words.length === 0 ? '' : ` (${words.join(', ')})`}`,
      usbPath: null,
      bus: device === null ? null : await linkName(device, 'subsystem'),
      address: device === null ? null : basename(device),
      device_paths: nodes.has(where) ? [join(dev, where)] : [],
      vendor_id: null,
      product_id: null,
      vendor: null,
      product: null,
      serial: null,
      driver: device === null ? null : await linkName(device, 'driver'),
      facts: { label, lines },
    });
  }
  return found;
}

/**
 * The kernel tells both only in the older interface to GPIO, whose numbers are not those of the chips: it is the one entry below
 * the chip or its device. Null where there is none, or several.
 */
async function linesOf(
  chip: string | null,
  named: string,
): Promise<{ readonly label: string | null; readonly lines: number | null }> {
  const folders = [named];
  for (const parent of chip === null ? [] : [join(chip, 'gpio'), join(dirname(chip), 'gpio')]) {
    const [only, ...more] = await namesIn(parent);
    if (only !== undefined && more.length === 0) folders.push(join(parent, only));
  }
  for (const folder of folders) {
    const count = Number(await attribute(folder, 'ngpio'));
    if (Number.isInteger(count) && count > 0)
      return { label: await attribute(folder, 'label'), lines: count };
  }
  return { label: chip === null ? null : await attribute(chip, 'label'), lines: null };
}
