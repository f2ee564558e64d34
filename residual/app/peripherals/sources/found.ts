import type { PeripheralKind } from '../../../../shared/schemas/peripherals.ts';
import type { UsbDevice } from './sysfs.ts';
import type { UsbNames } from './usb-names.ts';

/** One thing that a source found. */
export interface FoundPeripheral {
  readonly kind: PeripheralKind;
  /** What makes it the same one next time; two of a kind may share it, and then `where` tells them apart. */
  readonly identity: string;
  /** Its name in sysfs. */
  readonly where: string;
  readonly name: string;
  /** Of the USB device that it is, or is a part of, for example `1-1.4`. */
  readonly usbPath: string | null;
  readonly bus: string | null;
  readonly address: string | null;
  readonly device_paths: readonly string[];
  readonly vendor_id: string | null;
  readonly product_id: string | null;
  readonly vendor: string | null;
  readonly product: string | null;
  readonly serial: string | null;
  readonly driver: string | null;
  readonly facts: Readonly<Record<string, string | number | null>>;
}

type UsbPart = Pick<
  FoundPeripheral,
  'usbPath' | 'address' | 'vendor_id' | 'product_id' | 'vendor' | 'product' | 'serial'
>;

const NO_USB: UsbPart = {
  usbPath: null,
  address: null,
  vendor_id: null,
  product_id: null,
  vendor: null,
  product: null,
  serial: null,
};

/** The part of a finding that comes from USB; nothing for what is on another bus. */
export async function usbPart(usb: UsbDevice | null, names: UsbNames): Promise<UsbPart> {
  if (usb === null) return NO_USB;
  const listed = await names.of(usb.vendorId, usb.productId);
  return {
    usbPath: usb.path,
    address: usb.path,
    vendor_id: usb.vendorId,
    product_id: usb.productId,
    vendor: usb.manufacturer ?? listed.vendor,
    product: usb.product ?? listed.product,
    serial: usb.serial,
  };
}

/** The device's own words, and those of the list where they say something else. */
export async function usbWords(usb: UsbDevice, names: UsbNames): Promise<string> {
  const listed = await names.of(usb.vendorId, usb.productId);
  const vendor = usb.manufacturer ?? listed.vendor ?? 'USB device';
  const product = usb.product ?? listed.product ?? `${usb.vendorId}:${usb.productId}`;
  const own = product.toLowerCase().startsWith(vendor.toLowerCase()) ? product : `${vendor} ${product}`;
  const same = listed.product === null || own.toLowerCase().includes(listed.product.toLowerCase());
  return same ? own : `${own} (${listed.product})`;
}

/** By its serial number wherever it is plugged in; without one, by the port that it is in. */
export function usbIdentity(usb: UsbDevice): string {
  const which = usb.serial ?? usb.path;
  const part = usb.interface === null ? '' : `-if${usb.interface}`;
  return `${usb.vendorId}-${usb.productId}-${which}${part}`;
}
