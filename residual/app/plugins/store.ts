import { readFile } from 'node:fs/promises';
import { Serial } from '../../../shared/async/serial.ts';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { withLock } from '../../../shared/files/lock.ts';
import { PluginRefusal } from '../../../shared/plugins/refusal.ts';
import { checked } from '../../../shared/schemas/checked.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';
import { type InstallRecord, RETIRED, type StateFile, stateFile } from './record.ts';

const MAX_WAITING = 64;
const validate = fileValidatorOf(stateFile);

/**
 * The records of the installed extensions. The file is the truth: a change is in force when it is on the disk. A file that
 * cannot be read is an error on every call, never "no extensions": nothing is started, and nothing is overwritten.
 */
export class PluginStore {
  readonly #path: string;
  readonly #serial = new Serial();
  #records: ReadonlyMap<string, InstallRecord> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** By id, in the order of ids. @throws PluginRefusal host_io_error */
  async all(): Promise<readonly InstallRecord[]> {
    const records = this.#records ?? (await this.#serial.run(async () => this.#load()));
    return [...records.values()];
  }

  /** As last read or written; null if it is not installed, or the file cannot be read. */
  peek(id: string): InstallRecord | null {
    return this.#records?.get(id) ?? null;
  }

  /** @throws PluginRefusal not_found, host_io_error */
  async get(id: string): Promise<InstallRecord> {
    const found = (await this.all()).find(({ plugin_id }) => plugin_id === id);
    if (found === undefined) throw notInstalled(id);
    return found;
  }

  /**
   * Changes the record of one extension, after all changes before it.
   * @param change gets the present record, null if there is none; returns the new one, null to remove it
   * @throws PluginRefusal host_io_error: nothing was changed; else what `change` throws
   */
  async change(
    id: string,
    change: (record: InstallRecord | null) => InstallRecord | null,
  ): Promise<InstallRecord | null> {
    if (this.#serial.size >= MAX_WAITING)
      throw new PluginRefusal('host_io_error', 'Too many changes at once. Try again shortly.');
    return this.#serial.run(async () =>
      withLock(`${this.#path}.lock`, async () => {
        const records = new Map(await this.#load());
        const before = records.get(id) ?? null;
        const after = change(before);
        if (after === before) return after;
        if (after === null) records.delete(id);
        else records.set(id, after);
        await this.#save(records);
        return after;
      }),
    );
  }

  async #load(): Promise<ReadonlyMap<string, InstallRecord>> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null; // nothing was installed yet
      throw this.#unreadable(messageOf(error));
    });
    this.#records = text === null ? new Map() : this.#parse(text);
    return this.#records;
  }

  #parse(text: string): ReadonlyMap<string, InstallRecord> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw this.#unreadable(messageOf(error));
    }
    const { installs } = checked(validate, value, (fault) => this.#unreadable(fault));
    return new Map(installs.map((install) => [install.plugin_id, withoutRetired(install)]));
  }

  async #save(records: ReadonlyMap<string, InstallRecord>): Promise<void> {
    const installs = [...records.values()].toSorted((a, b) => (a.plugin_id < b.plugin_id ? -1 : 1));
    const file: StateFile = { schema: 1, installs: installs.map((install) => ({ ...install, ...RETIRED })) };
    try {
      await writeAtomic(this.#path, `${JSON.stringify(file, null, 1)}\n`, 0o640);
    } catch (error) {
      throw new PluginRefusal('host_io_error', `${this.#path} cannot be written: ${messageOf(error)}.`);
    }
    this.#records = new Map(installs.map((install) => [install.plugin_id, install]));
  }

  #unreadable(problem: string): PluginRefusal {
    this.#records = null;
    return new PluginRefusal(
      'host_io_error',
      `${this.#path} cannot be read: ${problem}. Repair it, or move it away and install the extensions again.`,
    );
  }
}

function withoutRetired(install: StateFile['installs'][number]): InstallRecord {
  const names = Object.keys(RETIRED);
  return Object.fromEntries(
    Object.entries(install).filter(([name]) => !names.includes(name)),
  ) as InstallRecord;
}

export function notInstalled(id: string): PluginRefusal {
  return new PluginRefusal('not_found', `The extension ${id} is not installed.`);
}
