import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { unxz } from '../../../shared/files/xz.ts';
import type { Family } from '../../../shared/flight/modes.ts';
import { parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { ardupilotParams } from './ardupilot-file.ts';
import type { Described } from './description.ts';
import { FACTS_FILE, factsOf } from './facts-file.ts';
import { px4Params } from './px4-file.ts';
import { DescriptionTable } from './table.ts';

/** PX4's file is 1 MB of JSON, ArduPilot's up to 4 MB; the limit protects our memory. */
const MAX_BYTES = 8 * 1024 * 1024;

type Firmware = 'ardupilot' | 'px4';
const FIRMWARES = ['ardupilot', 'px4'] as const satisfies readonly Firmware[];
type Reader = (file: unknown) => readonly Described[] | null;

const READERS: Readonly<Record<Firmware, Reader>> = {
  ardupilot: ardupilotParams,
  px4: px4Params,
};
/** What the operator may put below `param-metadata/`. */
const OPERATOR_FILES: Readonly<Record<Firmware, readonly string[]>> = {
  ardupilot: ['apm.pdef.json', 'apm.pdef.json.xz'],
  px4: ['parameters.json', 'parameters.json.xz'],
};

interface ParamMetadataOptions {
  /** Files that svc-link got from vehicles. */
  readonly fromVehicles: string;
  /** Files of the operator. */
  readonly fromOperator: string;
  readonly log: Logger;
}

/** Where descriptions may stand. */
interface Source {
  readonly path: string;
  /** What of the file is read; with the path it names the table. */
  readonly of: string;
  readonly read: Reader;
}

interface Loaded {
  /** The source and the file's state on disk. */
  readonly key: string;
  /** Null: it cannot be used. */
  readonly table: DescriptionTable | null;
}

/**
 * Descriptions of the vehicle's parameters: from the vehicle where it has them, else from a file of the operator, else for ArduPilot
 * the facts that come with this software. Read when they are asked for, not in svc-link: a file takes some 20 ms of its reader's time.
 */
export class ParamMetadata {
  readonly #options: ParamMetadataOptions;
  /** By path: two vehicles in turn must not read their files again and again. */
  #loaded: Loaded | null = null;
  #loading: { readonly key: string; readonly done: Promise<DescriptionTable | null> } | null = null;

  constructor(options: ParamMetadataOptions) {
    this.#options = options;
  }

  /**
   * @param described the file that the vehicle gave, a name below `component-metadata/`
   * @param family the kind of vehicle; null: not known
   * @returns null if nothing describes this vehicle's parameters
   */
  async of(
    firmware: string | null,
    described: string | null,
    family: Family | null = null,
  ): Promise<DescriptionTable | null> {
    if (firmware !== 'ardupilot' && firmware !== 'px4') return null;
    const { fromVehicles, fromOperator } = this.#options;
    const whole = (path: string): Source => ({ path, of: firmware, read: READERS[firmware] });
    const sources = OPERATOR_FILES[firmware].map((name) => whole(join(fromOperator, name)));
    if (described !== null) sources.unshift(whole(join(fromVehicles, described)));
    if (firmware === 'ardupilot' && family !== null) sources.push(shippedFor(family));
    for (const source of sources) {
      const table = await this.#load(source);
      if (table !== null) return table;
    }
    return null;
  }

  /**
   * Keeps a file of descriptions, in place of an older one of the operator's.
   * @throws ApiError E_INVALID_VALUE if it is none, E_STORE; the older one stays then
   */
  async keep(file: Buffer): Promise<{ readonly firmware: Firmware; readonly described: number }> {
    const json = await textIn(file);
    const sizeOf = (each: Firmware): number => new DescriptionTable(READERS[each](json.value) ?? []).size;
    const firmware = FIRMWARES.find((each) => sizeOf(each) > 0);
    if (firmware === undefined)
      throw noDescriptions('it is JSON, and describes no parameters in a form that is known');
    const described = sizeOf(firmware);
    const { fromOperator } = this.#options;
    const [plain = '', packed = ''] = OPERATOR_FILES[firmware];
    try {
      await mkdir(fromOperator, { recursive: true });
      await writeAtomic(join(fromOperator, plain), json.text);
      await rm(join(fromOperator, packed), { force: true });
    } catch (error) {
      throw new ApiError('E_STORE', `The descriptions could not be stored: ${messageOf(error)}.`);
    }
    return { firmware, described };
  }

  async #load(source: Source): Promise<DescriptionTable | null> {
    const { path } = source;
    let file: Awaited<ReturnType<typeof open>>;
    try {
      file = await open(path, 'r');
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#warn(path, error);
      return null;
    }
    try {
      const { size, mtimeMs, ino } = await file.stat();
      const key = `${path} ${source.of} ${ino} ${size} ${mtimeMs}`;
      if (this.#loaded?.key === key) return this.#loaded.table;
      // Requests that come meanwhile wait for the same reading.
      if (this.#loading?.key !== key) {
        const done = readTable(file, size, source).catch((error: unknown) => {
          this.#warn(path, error);
          return null;
        });
        this.#loading = { key, done };
      }
      const table = await this.#loading.done;
      this.#loaded = { key, table };
      if (this.#loading?.key === key) this.#loading = null;
      return table;
    } finally {
      await file.close();
    }
  }

  #warn(path: string, error: unknown): void {
    this.#options.log.warn(`descriptions of parameters, ${path}: ${messageOf(error)}`);
  }
}

/** @throws ApiError E_INVALID_VALUE */
async function textIn(file: Buffer): Promise<{ readonly text: string; readonly value: unknown }> {
  try {
    const text = (isXz(file) ? await unxz(file, MAX_BYTES) : file).toString('utf8');
    if (text.trimStart().startsWith('<')) throw new Error('it is XML: apm.pdef.json beside it is the one');
    return { text, value: parseJson(text) };
  } catch (error) {
    throw noDescriptions(error instanceof SyntaxError ? 'it is no JSON, or was cut off' : messageOf(error));
  }
}

function isXz(file: Buffer): boolean {
  return file.subarray(0, 6).equals(Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]));
}

function noDescriptions(why: string): ApiError {
  return new ApiError(
    'E_INVALID_VALUE',
    `This is no file of descriptions: ${why}. Wanted: apm.pdef.json of ArduPilot, or parameters.json of PX4. Nothing was kept.`,
  );
}

function shippedFor(family: Family): Source {
  return {
    path: join(import.meta.dirname, FACTS_FILE),
    of: family,
    read: (file) => factsOf(file, family),
  };
}

async function readTable(
  file: Awaited<ReturnType<typeof open>>,
  size: number,
  { path, of, read }: Source,
): Promise<DescriptionTable> {
  if (size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  const bytes = await file.readFile();
  const json = path.endsWith('.xz') ? await unxz(bytes, MAX_BYTES) : bytes;
  const params = read(JSON.parse(json.toString('utf8')));
  if (params === null) throw new Error(`it does not describe parameters of ${of}`);
  return new DescriptionTable(params);
}
