import { join } from 'node:path';
import { messageOf } from '../../../shared/errors.ts';
import { readOwn } from '../../../shared/files/private-file.ts';
import { readManifestText } from '../../../shared/plugins/manifest-text.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import {
  type PeripheralAction,
  type PeripheralManifest,
  peripheralManifest,
} from '../../../shared/schemas/peripherals.ts';
import {
  compileValidator,
  createAjv,
  type Validator,
  type Violation,
  validatorOf,
} from '../../../shared/schemas/validator.ts';
import { SHIPPED } from './shipped-manifests.ts';
import type { FoundPeripheral } from './sources/found.ts';
import { namesIn } from './sources/sysfs.ts';

export interface Manifest {
  readonly id: string;
  readonly display_name: string;
  readonly capabilities: readonly string[];
  readonly actions: readonly PeripheralAction[];
  readonly config_schema: PeripheralManifest['config_schema'] | null;
  /** Its file, or `shipped`. */
  readonly origin: string;
  /** Of the configuration; null: it takes none. */
  readonly check: Validator | null;
  readonly fits: (found: FoundPeripheral) => boolean;
}

const MAX_FILES = 64;
const MAX_BYTES = 64 * 1024;
const OTHERS_WRITE = 0o022;

/** What is known of kinds of devices: files of the operator, `*.yaml` in one folder, before those that are shipped. */
export class Manifests {
  readonly #folder: string;
  readonly #valid = validatorOf(peripheralManifest);
  readonly #shipped = SHIPPED.map((text) => compile(text, 'shipped'));
  /** By file; a file with the same text is not compiled again. */
  #files = new Map<string, { readonly text: string; readonly read: Manifest | Error }>();
  #all: readonly Manifest[] = this.#shipped;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads the files anew. A bad one is left out. @returns what is wrong with which, null if nothing */
  async load(): Promise<string | null> {
    const problems: string[] = [];
    const names = (await namesIn(this.#folder)).filter((name) => /\.ya?ml$/.test(name));
    if (names.length > MAX_FILES) problems.push(`only the first ${MAX_FILES} files are read`);
    const files = new Map<string, { readonly text: string; readonly read: Manifest | Error }>();
    for (const name of names.slice(0, MAX_FILES)) {
      try {
        const text = await readOwn(join(this.#folder, name), OTHERS_WRITE, MAX_BYTES);
        if (text === null) continue; // removed just now
        const before = this.#files.get(name);
        const read = before?.text === text ? before.read : this.#read(text, name);
        files.set(name, { text, read });
        if (read instanceof Error) problems.push(`${name}: ${read.message}`);
      } catch (error) {
        problems.push(messageOf(error));
      }
    }
    this.#files = files;
    const own = [...files.values()].flatMap(({ read }) => (read instanceof Error ? [] : [read]));
    this.#all = [...own, ...this.#shipped];
    return problems.length === 0 ? null : problems.join('; ');
  }

  /** The first that fits; null: nothing is known of it. */
  of(found: FoundPeripheral): Manifest | null {
    return this.#all.find(({ fits }) => fits(found)) ?? null;
  }

  #read(text: string, name: string): Manifest | Error {
    const { value, violations } = readManifestText(text);
    if (violations.length > 0) return new Error(sentence(violations));
    if (!this.#valid.fits(value)) return new Error(sentence(this.#valid(value) ?? []));
    try {
      return compile(value, name);
    } catch (error) {
      return new Error(messageOf(error));
    }
  }
}

/** Each violation with its place. */
export function sentence(violations: readonly Violation[]): string {
  return violations.map((violation) => faultOf(violation, 'it')).join(', ');
}

/** @throws Error for what no schema of ours can say: a regular expression, a schema of the operator, ids that occur twice */
function compile(text: PeripheralManifest, origin: string): Manifest {
  const { id, display_name, match, capabilities = [], actions = [], config_schema: schema = null } = text;
  const ids = actions.map((action) => action.id);
  if (new Set(ids).size !== ids.length) throw new Error('/actions has an id twice');
  const rules = [match].flat().map(({ regex, ...rule }) => ({
    ...rule,
    regex: regex === undefined ? null : new RegExp(`^(?:${regex})$`, 'u'),
  }));
  return {
    id,
    display_name,
    capabilities,
    actions,
    config_schema: schema,
    origin,
    check: schema === null ? null : compileValidator(createAjv({ checkSchemas: true }), schema),
    fits: (found) =>
      rules.some(
        ({ kind, vid, pid, driver, regex }) =>
          (kind === undefined || kind === found.kind) &&
          (vid === undefined || vid === found.vendor_id) &&
          (pid === undefined || pid === found.product_id) &&
          (driver === undefined || driver === found.driver) &&
          (regex === null || found.device_paths.some((path) => regex.test(path))),
      ),
  };
}
