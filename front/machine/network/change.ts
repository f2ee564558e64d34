import { rm } from 'node:fs/promises';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { JsonSchema } from '../../../shared/schemas/json-schema.ts';
import { INTERFACE, type NetworkProfile, UUID } from '../../../shared/schemas/network-operation.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';
import { type Nmcli, reasonOf } from './nmcli.ts';

/** A change that is not over: enough to go back to what was before. */
interface Pending {
  readonly interface: string;
  /** What was active on it. */
  readonly before: string | null;
  /** What the change comes up with, and whether it was saved for the change alone. */
  readonly uuid: string;
  readonly isNew: boolean;
}

const PENDING = {
  type: 'object',
  required: ['version', 'interface', 'before', 'uuid', 'isNew'],
  properties: {
    version: { const: 1 },
    interface: INTERFACE,
    before: { ...UUID, type: ['string', 'null'] },
    uuid: UUID,
    isNew: { type: 'boolean' },
  },
} as const satisfies JsonSchema;

const validate = fileValidatorOf(PENDING);

interface ChangeDeps {
  /** What was before is written here until the change is over. */
  readonly file: string;
  readonly nmcli: Nmcli;
  readonly helper: Helper;
  readonly log: Logger;
}

/**
 * Changes of what is active on an interface. One that does not come up goes back to what was before: the caller may have been
 * connected through it. A process that was killed in the middle of one goes back when it starts.
 */
export class Changes {
  readonly #deps: ChangeDeps;
  #busy = false;
  #recovery: Promise<void> = Promise.resolve();

  constructor(deps: ChangeDeps) {
    this.#deps = deps;
  }

  /** Goes back in the background, if there is a change that was not finished. */
  start(): void {
    this.#busy = true;
    this.#recovery = this.#recover()
      .catch((error: unknown) => {
        this.#deps.log.error(`unfinished change of the network: ${messageOf(error)}`);
      })
      .finally(() => {
        this.#busy = false;
      });
  }

  async stop(): Promise<void> {
    await this.#recovery;
  }

  /** Only one change at a time. @throws ApiError E_BUSY */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy)
      throw new ApiError('E_BUSY', 'The network is already being changed. Try again when that has finished.');
    this.#busy = true;
    try {
      return await work();
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Brings a connection up. @param to a new one, or the UUID of a saved one @param before what is active on the interface
   * @throws ApiError E_UPSTREAM with NetworkManager's reason and `reverted`, if it did not come up; E_STORE
   */
  async bringUp(iface: string, to: NetworkProfile | string, before: string | null): Promise<void> {
    const { helper } = this.#deps;
    const isNew = typeof to !== 'string';
    const pending: Pending = { interface: iface, before, uuid: isNew ? to.uuid : to, isNew };
    await this.#write(pending);
    try {
      if (isNew) await helper.network_profile(to);
      await helper.network_up({ uuid: pending.uuid, interface: iface });
    } catch (error) {
      const left = await this.#goBack(pending);
      await this.#clear();
      const code = error instanceof ApiError ? error.code : 'E_UPSTREAM';
      if (code === 'E_NOT_IMPLEMENTED' || code === 'E_BUSY' || code === 'E_INVALID_VALUE') throw error;
      throw new ApiError('E_UPSTREAM', `${sentence(reasonOf(error))} ${left ?? wentBack(pending)}`, {
        reverted: left === null,
      });
    }
    await this.#clear();
  }

  async #recover(): Promise<void> {
    const { file, nmcli, log } = this.#deps;
    const text = await readPrivate(file);
    if (text === null) return;
    const pending = parse(text);
    if (pending === null) {
      log.error(`${file} is not readable and is removed`);
      return this.#clear();
    }
    const devices = await nmcli.devices();
    const now = devices.find(({ name }) => name === pending.interface);
    if (now?.uuid === pending.uuid && now.connected)
      log.info('a change of the network had come up before a restart');
    else
      log.warn(
        (await this.#goBack(pending)) ?? `a change of the network was not finished. ${wentBack(pending)}`,
      );
    await this.#clear();
  }

  /** @returns null, or what is left of the change */
  async #goBack({ interface: iface, before, uuid, isNew }: Pending): Promise<string | null> {
    const { helper, nmcli } = this.#deps;
    try {
      if (isNew && (await nmcli.profiles()).some((profile) => profile.uuid === uuid))
        await helper.network_forget({ uuid });
      const now = (await nmcli.devices()).find(({ name }) => name === iface);
      if (before !== null && !(now?.uuid === before && now.connected))
        await helper.network_up({ uuid: before, interface: iface });
      return null;
    } catch (error) {
      return `What was active on ${iface} before could not be brought back: ${sentence(reasonOf(error))}`;
    }
  }

  async #write(pending: Pending): Promise<void> {
    const { file } = this.#deps;
    await writeAtomic(file, JSON.stringify({ version: 1, ...pending }), 0o600).catch((error: unknown) => {
      throw new ApiError('E_STORE', `Nothing was changed: ${file}: ${messageOf(error)}`);
    });
  }

  /** A file that stays is harmless: what it goes back from is active or gone. */
  async #clear(): Promise<void> {
    const { file, log } = this.#deps;
    await rm(file, { force: true }).catch((error: unknown) => log.warn(`${file}: ${messageOf(error)}`));
  }
}

function wentBack({ interface: iface, before }: Pending): string {
  return before === null
    ? `${iface} is as it was before: not connected.`
    : `${iface} went back to what was active before.`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function parse(text: string): Pending | null {
  try {
    const value = parseJson(text);
    return validate.fits(value) ? value : null;
  } catch {
    return null; // said by the caller
  }
}
