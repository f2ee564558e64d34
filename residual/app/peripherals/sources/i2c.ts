import { join } from 'node:path';
import type { FoundPeripheral } from './found.ts';
import { attribute, linkName, namesIn, type Trees } from './sysfs.ts';

const BUS = /^i2c-(\d+)$/;
const DEVICE = /^(\d+)-([0-9a-f]{4})$/;

const NOTHING = {
  kind: 'i2c',
  usbPath: null,
  vendor_id: null,
  product_id: null,
  vendor: null,
  product: null,
  serial: null,
} as const;

/**
 * The I2C buses, and on them the devices that the kernel knows. No address is probed: a read can change the state of a chip,
 * so what has no driver is not seen.
 */
export async function findI2c({ sys, dev }: Trees): Promise<readonly FoundPeripheral[]> {
  const folder = join(sys, 'bus/i2c/devices');
  const nodes = new Set(await namesIn(dev));
  const found: FoundPeripheral[] = [];
  for (const where of await namesIn(folder)) {
    const label = await attribute(join(folder, where), 'name');
    const driver = await linkName(join(folder, where), 'driver');
    const bus = BUS.exec(where)?.[1];
    const [, on, address] = DEVICE.exec(where) ?? [];
    if (bus !== undefined) {
      found.push({
        ...NOTHING,
        identity: where.slice('i2c-'.length),
        where,
        name: `I2C bus ${bus}${label === null ? '' : ` (${label})`}`,
        bus: where,
        address: null,
        device_paths: nodes.has(where) ? [join(dev, where)] : [],
        driver,
        facts: { label },
      });
    } else if (on !== undefined && address !== undefined) {
      const at = `0x${address.slice(-2)}`;
      found.push({
        ...NOTHING,
        identity: where,
        where,
        name: `${label ?? 'Device'} on I2C bus ${on} at ${at}`,
        bus: `i2c-${on}`,
        address: at,
        device_paths: [],
        driver,
        facts: { label },
      });
    }
  }
  return found;
}
