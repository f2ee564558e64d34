import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { linkFile, linkFileName } from '../../shared/link-file.ts';
import type { ParamsOf } from '../../shared/rpc/contract.ts';
import type { HELPER } from '../../shared/rpc/helper.ts';
import type { NetworkProfile } from '../../shared/schemas/network-operation.ts';
import type { Run } from './find-program.ts';
import { escaped, pskIn, renderProfile } from './nm-profile.ts';

type Params<M extends keyof (typeof HELPER)['methods']> = ParamsOf<typeof HELPER, M>;

/** How long nmcli waits for what it asked for, seconds; the limits of the calls are above. */
const UP_S = 30;
const DOWN_S = 10;
const UP_MS = 35_000;
const DOWN_MS = 15_000;
const LOAD_MS = 10_000;
const ROUTE_MS = 5_000;
/** Of the route of the uplink that the node has chosen; 242 is nobody's in /etc/iproute2/rt_protos. */
const OWN_ROUTE = ['metric', '5', 'proto', '242'];
const SCAN_MS = 20_000;

/**
 * Connections of NetworkManager and .link files of systemd: the only places in which svc-helper writes for them are those two
 * folders. A connection is written as a file, not with nmcli's arguments, which every user could read while it runs.
 */
export class NetworkOperations {
  readonly #run: Run;
  readonly #profiles: string;
  readonly #links: string;

  constructor(run: Run, folders: { readonly profiles: string; readonly links: string }) {
    this.#run = run;
    this.#profiles = folders.profiles;
    this.#links = folders.links;
  }

  async profile(profile: NetworkProfile): Promise<void> {
    const file = this.#fileOf(profile.uuid);
    await writeAtomic(file, renderProfile(profile, await this.#pskOf(profile)), 0o600);
    try {
      await this.#run('nmcli', ['connection', 'load', file], LOAD_MS);
      // `load` ends with 0 for a file that NetworkManager refuses.
      await this.#run(
        'nmcli',
        ['-t', '-f', 'connection.uuid', 'connection', 'show', 'uuid', profile.uuid],
        LOAD_MS,
      );
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
  }

  async up({ uuid, interface: iface }: Params<'network_up'>): Promise<void> {
    await this.#nmcli(['--wait', String(UP_S), 'connection', 'up', 'uuid', uuid, 'ifname', iface], UP_MS);
  }

  async down(uuid: string): Promise<void> {
    await this.#nmcli(['--wait', String(DOWN_S), 'connection', 'down', 'uuid', uuid], DOWN_MS);
  }

  async leave(iface: string): Promise<void> {
    await this.#nmcli(['--wait', String(DOWN_S), 'device', 'disconnect', iface], DOWN_MS);
  }

  async forget(uuid: string): Promise<void> {
    await this.#nmcli(['--wait', String(DOWN_S), 'connection', 'delete', 'uuid', uuid], DOWN_MS);
    await rm(this.#fileOf(uuid), { force: true }); // NetworkManager has removed it already, if it was running
  }

  async scan(iface: string): Promise<void> {
    const list = ['-t', '-f', 'SSID-HEX', 'device', 'wifi', 'list', 'ifname', iface, '--rescan', 'yes'];
    await this.#nmcli(list, SCAN_MS);
  }

  async metric({ uuid, interface: iface, metric, later = false }: Params<'network_metric'>): Promise<void> {
    const routes = ['ipv4.route-metric', String(metric), 'ipv6.route-metric', String(metric)];
    await this.#nmcli(['connection', 'modify', 'uuid', uuid, ...routes], LOAD_MS);
    if (!later) await this.#nmcli(['--wait', String(DOWN_S), 'device', 'reapply', iface], DOWN_MS);
  }

  async preferUplink({ interface: iface, gateway }: Params<'uplink_prefer'>): Promise<void> {
    // `replace` takes the place of the one with this metric, whatever its interface: there is no moment without a route.
    const route = ['default', 'via', gateway, 'dev', iface, 'onlink', ...OWN_ROUTE];
    await this.#run('ip', ['-4', 'route', 'replace', ...route], ROUTE_MS);
  }

  async releaseUplink(): Promise<void> {
    await this.#run('ip', ['-4', 'route', 'flush', 'exact', 'default', ...OWN_ROUTE], ROUTE_MS);
  }

  async modemSignal({ modem, seconds }: Params<'modem_signal'>): Promise<void> {
    await this.#run('mmcli', ['-m', String(modem), `--signal-setup=${seconds}`], LOAD_MS);
  }

  async pin({ interface: iface, mac, path }: Params<'mac_pin'>): Promise<void> {
    await mkdir(this.#links, { recursive: true, mode: 0o755 });
    await writeAtomic(join(this.#links, linkFileName(iface)), linkFile(iface, mac, path), 0o644);
  }

  async unpin(iface: string): Promise<void> {
    await rm(join(this.#links, linkFileName(iface)), { force: true });
  }

  async #nmcli(args: readonly string[], timeoutMs: number): Promise<void> {
    await this.#run('nmcli', args, timeoutMs);
  }

  /** As the file has it. */
  async #pskOf({ passphrase, passphrase_of: other }: NetworkProfile): Promise<string | null> {
    if (passphrase !== undefined) return escaped(passphrase);
    if (other === undefined) return null;
    const text = await readFile(this.#fileOf(other), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      throw new ApiError(
        'E_INVALID_VALUE',
        'The connection whose passphrase was to be kept is gone. Send a passphrase.',
      );
    });
    return pskIn(text);
  }

  /** Only connections that the node has made have such a file. */
  #fileOf(uuid: string): string {
    return join(this.#profiles, `svc-${uuid}.nmconnection`);
  }
}
