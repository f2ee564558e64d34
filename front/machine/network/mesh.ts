import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../../shared/errors.ts';
import { withoutMesh } from '../../../shared/machine-work.ts';
import { isRecord, type JsonObject, parseJson } from '../../../shared/member.ts';
import { runProgram } from '../../../shared/process/run-program.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import type { MeshConfig, NetworkStore } from './network-store.ts';

const ASK_MS = 4000;
const INTERFACE = 'bat0';
/** The gateway class of `batctl gwj` is in units of 100 kbit/s. */
const CLASS_KBPS = 100;

/** batctl's JSON output for each, see batctl(8): mesh information, neighbours, originators, gateways, clients. */
type Query = 'mj' | 'nj' | 'oj' | 'gwj' | 'tgj';
type Item = JsonObject;

interface MeshDeps {
  readonly store: NetworkStore;
  readonly sysDir: string;
}

/**
 * batman-adv as batctl tells it. Not tested on hardware. Its functions throw ApiError E_NOT_IMPLEMENTED where batctl or the
 * kernel's module is missing, E_UPSTREAM with batctl's last words.
 */
export class Mesh {
  readonly #deps: MeshDeps;

  constructor(deps: MeshDeps) {
    this.#deps = deps;
  }

  async state(): Promise<MadeAnswer<'ground-station.mesh.get'>> {
    const [info] = await this.#ask('mj');
    const { gateways, selected } = await this.gateways();
    const { mesh } = await this.#deps.store.read();
    return {
      up: info !== undefined,
      bat_iface: INTERFACE,
      mesh_iface: text(info?.['hard_ifname']),
      mesh_id: mesh.mesh_id,
      algorithm: text(info?.['algo_name']),
      selected_gateway: selected,
      clients: (await this.#ask('tgj')).length,
      neighbors: await this.neighbors(),
      gateways,
    };
  }

  async neighbors() {
    return byAddress(await this.#ask('nj'), 'neigh_address', heard);
  }

  /** The best way to each node. */
  async routes() {
    const best = (await this.#ask('oj')).filter(({ best: isBest }) => isBest === true);
    return byAddress(best, 'orig_address', (item) => ({
      next_hop: text(item['neigh_address']),
      ...heard(item),
    }));
  }

  async gateways(): Promise<MadeAnswer<'ground-station.mesh.gateways.get'>> {
    const items = await this.#ask('gwj');
    const gateways = byAddress(items, 'orig_address', (item) => ({
      class_up_kbps: kbps(item['bandwidth_up']),
      class_down_kbps: kbps(item['bandwidth_down']),
      tq: integer(item['tq']),
      selected: item['best'] === true,
    }));
    return { gateways, selected: text(items.find(({ best }) => best === true)?.['orig_address']) };
  }

  async config(change: Partial<MeshConfig> | null): Promise<MadeAnswer<'ground-station.mesh.config.get'>> {
    await this.#present();
    const { store } = this.#deps;
    const { mesh } = await store.read();
    const next = change === null ? mesh : (await store.write({ mesh: { ...mesh, ...change } })).mesh;
    return { ...next, bat_iface: INTERFACE, applied: false };
  }

  async #ask(query: Query): Promise<readonly Item[]> {
    await this.#present();
    const output = await runProgram('batctl', ['meshif', INTERFACE, query], ASK_MS).catch(
      (error: unknown) => {
        const isMissing = error instanceof ApiError && error.code === 'E_NOT_IMPLEMENTED';
        throw isMissing ? withoutMesh('batctl') : error;
      },
    );
    let value: unknown;
    try {
      value = parseJson(output);
    } catch {
      throw new ApiError(
        'E_UPSTREAM',
        `batctl ${query}: its answer is not JSON. Install batctl 2022.1 or newer.`,
      );
    }
    return [value].flat().filter(isRecord);
  }

  async #present(): Promise<void> {
    await access(join(this.#deps.sysDir, 'module/batman_adv')).catch(() => {
      throw withoutMesh('batman-adv');
    });
  }
}

/** What batctl says of each node, in which `address` is its address; what has none is no node. */
function byAddress<T>(items: readonly Item[], address: string, rest: (item: Item) => T) {
  return items.flatMap((item) => {
    const mac = text(item[address]);
    return mac === null ? [] : [{ mac, ...rest(item) }];
  });
}

function heard(item: Item) {
  return {
    iface: text(item['hard_ifname']),
    tq: integer(item['tq']),
    last_seen_ms: integer(item['last_seen_msecs']),
  };
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function integer(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}

function kbps(value: unknown): number | null {
  const units = integer(value);
  return units === null ? null : units * CLASS_KBPS;
}
