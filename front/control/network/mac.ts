import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { linkFileName, pinnedMac } from '../../../shared/link-file.ts';
import { runProgram } from '../../../shared/process/run-program.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { macAdapters } from '../../../shared/schemas/network.ts';

const UDEV_MS = 3000;
/** /sys/class/net/…/addr_assign_type: made up by the kernel (linux/netdevice.h, NET_ADDR_RANDOM). */
const MADE_UP = '1';

type Adapter = Made<typeof macAdapters>['adapters'][number];

interface MacDeps {
  readonly helper: Helper;
  readonly sysDir: string;
  /** Systemd's .link files. */
  readonly linkDir: string;
}

/** MAC addresses that are pinned by .link files of systemd: they count from the next start of the machine. */
export class MacPins {
  readonly #deps: MacDeps;

  constructor(deps: MacDeps) {
    this.#deps = deps;
  }

  /** Interfaces with hardware behind them. @throws ApiError E_STORE */
  async adapters(): Promise<readonly Adapter[]> {
    const folder = join(this.#deps.sysDir, 'class/net');
    try {
      const names = await readdir(folder);
      const found = await Promise.all(names.toSorted().map(async (name) => this.#adapter(folder, name)));
      return found.filter((adapter) => adapter !== null);
    } catch (error) {
      throw new ApiError('E_STORE', `The adapters cannot be read: ${messageOf(error)}`);
    }
  }

  /** @param mac with colons or hyphens; undefined: the present one */
  async pin(
    iface: string,
    mac: string | undefined,
  ): Promise<Pick<MadeAnswer<'network.mac.pin.post'>, 'mac' | 'state'>> {
    const adapter = (await this.adapters()).find(({ name }) => name === iface);
    if (adapter === undefined) throw new ApiError('E_NOT_FOUND', `No network adapter ${iface}.`);
    const wanted = mac?.toLowerCase().replaceAll('-', ':') ?? adapter.mac;
    if (!/^[0-9a-f][02468ace]/.test(wanted) || wanted === '00:00:00:00:00:00')
      throw new ApiError(
        'E_INVALID_VALUE',
        `${wanted} is not the address of one adapter: it is a group address, or zero.`,
      );
    await this.#deps.helper.mac_pin({ interface: iface, mac: wanted, path: adapter.path });
    return { mac: wanted, state: wanted === adapter.mac ? 'pinned' : 'deferred' };
  }

  /** @returns whether there was a pin */
  async unpin(iface: string): Promise<boolean> {
    const there = (await this.#pinned(iface)) !== null;
    if (there) await this.#deps.helper.mac_unpin({ interface: iface });
    return there;
  }

  async #adapter(folder: string, name: string): Promise<Adapter | null> {
    const text = async (file: string): Promise<string> =>
      (await readFile(join(folder, name, file), 'utf8')).trim();
    const hardware = await readdir(join(folder, name, 'device')).catch(absent);
    if (hardware === null) return null;
    const [mac, assigned] = [(await text('address')).toLowerCase(), await text('addr_assign_type')];
    if (!/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/.test(mac)) return null; // no Ethernet
    const pinned = await this.#pinned(name);
    const own = assigned === MADE_UP ? 'candidate' : 'stable';
    const state = pinned === null ? own : pinned === mac ? 'pinned' : 'deferred';
    return { name, mac, pinned_mac: pinned, path: await pathOf(join(folder, name)), state };
  }

  async #pinned(iface: string): Promise<string | null> {
    const text = await readFile(join(this.#deps.linkDir, linkFileName(iface)), 'utf8').catch(absent);
    return text === null ? null : pinnedMac(text);
  }
}

/** Where it is plugged in; null where there is no udev, or it does not know. */
async function pathOf(folder: string): Promise<string | null> {
  const args = ['info', '--query=property', '--property=ID_PATH', '--value', `--path=${folder}`];
  const text = await runProgram('udevadm', args, UDEV_MS).catch(() => ''); // the pin then goes by the name
  const path = text.trim();
  return /^[A-Za-z0-9][A-Za-z0-9:._-]{0,127}$/.test(path) ? path : null;
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
