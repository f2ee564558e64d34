import { access, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import type { Done } from '../../shared/rpc/helper.ts';
import type { Run } from './find-program.ts';
import {
  keyName,
  type RadioApply,
  renderEnvironment,
  renderUnmanaged,
  renderWfbConfig,
} from './wfb-config.ts';

/** Where it writes. */
export interface RadioPlaces {
  /** What wfb-ng reads: its configuration, its keys, what it is started with. */
  readonly folder: string;
  /** NetworkManager's run-time folder. */
  readonly networkManager: string;
  /** `/sys` */
  readonly sys: string;
}

const UNIT = 'svc-wfb.service';
const SYSTEMCTL_MS = 15_000;
const IW_MS = 5000;
const DONE: Done = { done: true };

/** wfb-ng as a unit of systemd, and its cards. */
export class RadioOperations {
  readonly #run: Run;
  readonly #find: (program: string) => Promise<string>;
  readonly #places: RadioPlaces;

  /** @param find throws ApiError E_NOT_IMPLEMENTED if there is no such program */
  constructor(run: Run, find: (program: string) => Promise<string>, places: RadioPlaces) {
    this.#run = run;
    this.#find = find;
    this.#places = places;
  }

  async apply(params: RadioApply): Promise<void> {
    if (params.fec_k > params.fec_n)
      throw new ApiError('E_INVALID_VALUE', 'radio.fec_k must not be above radio.fec_n.');
    for (const { name } of params.cards) await this.#checkCard(name);
    await this.#find('wfb-server').catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'E_NOT_IMPLEMENTED') throw error;
      throw new ApiError(
        'E_NOT_IMPLEMENTED',
        'This machine has no wfb-ng. Install it (docs/radio.md), or set radio.mode to off.',
        { missing: 'wfb-ng' },
      );
    });
    const { folder } = this.#places;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const keys = new Map(params.slots.map((slot) => [keyName(slot), Buffer.from(slot.key, 'hex')]));
    let changed = await this.#removeKeys((name) => !keys.has(name));
    for (const [name, key] of keys) changed = (await this.#write(join(folder, name), key)) || changed;
    const config = Buffer.from(renderWfbConfig(params, folder));
    changed = (await this.#write(join(folder, 'wifibroadcast.cfg'), config)) || changed;
    changed = (await this.#write(join(folder, 'env'), Buffer.from(renderEnvironment(params)))) || changed;
    await this.#leaveAlone(params);
    if (params.restart === 'never') return;
    // A restart costs some six seconds of picture.
    const verb = changed ? 'restart' : 'start';
    await this.#run('systemctl', [verb, '--', UNIT], SYSTEMCTL_MS);
  }

  async stop(): Promise<void> {
    await this.#run('systemctl', ['stop', '--', UNIT], SYSTEMCTL_MS);
    await this.#removeKeys(() => true);
  }

  async tune({
    card,
    channel,
    bandwidth_mhz: width,
  }: {
    readonly card: string;
    readonly channel: number;
    readonly bandwidth_mhz: 20 | 40;
  }): Promise<Done> {
    await this.#checkCard(card);
    const mode = width === 40 ? 'HT40+' : 'HT20';
    await this.#run('iw', ['dev', card, 'set', 'channel', String(channel), mode], IW_MS);
    return DONE;
  }

  async power({ card, mbm }: { readonly card: string; readonly mbm: number }): Promise<Done> {
    await this.#checkCard(card);
    await this.#run('iw', ['dev', card, 'set', 'txpower', 'fixed', String(mbm)], IW_MS);
    return DONE;
  }

  /** Any other interface, for example the wired one, would be taken off the network. @throws ApiError E_RADIO_REFUSED */
  async #checkCard(name: string): Promise<void> {
    await access(join(this.#places.sys, 'class/net', name, 'phy80211')).catch(() => {
      throw new ApiError('E_RADIO_REFUSED', `${name} is no Wi-Fi card of this machine. See radio.cards.`, {
        card: name,
      });
    });
  }

  /** Where NetworkManager runs, it would take the cards to look for networks. */
  async #leaveAlone(params: RadioApply): Promise<void> {
    const { networkManager } = this.#places;
    const runs = await stat(networkManager).then(
      (found) => found.isDirectory(),
      () => false, // it is not there
    );
    if (!runs) return;
    const folder = join(networkManager, 'conf.d');
    await mkdir(folder, { recursive: true, mode: 0o755 });
    const file = join(folder, '90-svc-radio.conf');
    if (!(await this.#write(file, Buffer.from(renderUnmanaged(params)), 0o644))) return;
    try {
      await this.#run('nmcli', ['general', 'reload', 'conf'], IW_MS);
    } catch (error) {
      await rm(file, { force: true }); // so that the next time does not take it for told
      throw error;
    }
  }

  /** @returns whether the content is new */
  async #write(path: string, content: Buffer, mode = 0o600): Promise<boolean> {
    const old = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (old?.equals(content) === true) return false;
    await writeAtomic(path, content, mode);
    return true;
  }

  /** @returns whether there were some */
  async #removeKeys(unwanted: (name: string) => boolean): Promise<boolean> {
    const { folder } = this.#places;
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const old = names.filter((name) => name.endsWith('.key') && unwanted(name));
    await Promise.all(old.map(async (name) => rm(join(folder, name), { force: true })));
    return old.length > 0;
  }
}
