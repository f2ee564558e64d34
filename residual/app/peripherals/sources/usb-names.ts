import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf } from '../../../../shared/errors.ts';
import { memberOf, parseJson } from '../../../../shared/member.ts';
import { plainText } from '../../../../shared/plain-text.ts';

interface Names {
  readonly vendor: string | null;
  readonly product: string | null;
}

const MAX_KEPT = 256;
const UNKNOWN: Names = { vendor: null, product: null };

/**
 * What the public list of USB ids calls a vendor and a product. The package has a file for each vendor, of 0.1 to 60 KB; only
 * that is read, and of it only the two names are kept.
 */
export class UsbNames {
  readonly #folder = join(
    dirname(fileURLToPath(import.meta.resolve('usb.ids/package.json'))),
    'dist/data/vendors',
  );
  readonly #kept = new Map<string, Names>();

  /** @param vendorId four hexadecimal digits in lower case, as `productId` */
  async of(vendorId: string, productId: string): Promise<Names> {
    const key = `${vendorId}:${productId}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const names = await this.#read(vendorId, productId);
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(key, names);
    return names;
  }

  async #read(vendorId: string, productId: string): Promise<Names> {
    if (!/^[0-9a-f]{4}$/.test(vendorId)) return UNKNOWN;
    try {
      const vendor = parseJson(await readFile(join(this.#folder, `${vendorId}.json`), 'utf8'));
      const device = memberOf(memberOf(vendor, 'devices'), productId);
      return { vendor: text(memberOf(vendor, 'name')), product: text(memberOf(device, 'devname')) };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return UNKNOWN;
      throw error;
    }
  }
}

/** The list has "Unknown" for a vendor that nobody knows. */
function text(name: unknown): string | null {
  return typeof name !== 'string' || name === '' || name === 'Unknown' ? null : plainText(name);
}
