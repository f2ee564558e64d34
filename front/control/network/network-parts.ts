import type { Config } from '../../../shared/config/schema.ts';
import { LINK_FOLDER } from '../../../shared/link-file.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import { groundNetworkHandlers } from '../native/ground-network.ts';
import { networkHandlers } from '../native/network.ts';
import { Changes } from './change.ts';
import { Hotspot, ssidOf } from './hotspot.ts';
import { MacPins } from './mac.ts';
import { Mesh } from './mesh.ts';
import { Network } from './network.ts';
import { NetworkStore } from './network-store.ts';
import { Nmcli } from './nmcli.ts';

export interface NetworkDeps {
  readonly config: Config;
  readonly paths: Paths;
  readonly deviceId: string;
  readonly helper: Helper;
  readonly sysDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paired: () => boolean;
  /** Whether an interface is a card of the radio. */
  readonly isRadio: (iface: string) => boolean;
  readonly log: Logger;
}

/** The network's parts, put together. */
export function networkParts(deps: NetworkDeps) {
  const { config, paths, deviceId, helper, sysDir, env, paired, isRadio, log } = deps;
  const nmcli = new Nmcli(env);
  const store = new NetworkStore(paths.network);
  const changes = new Changes({ file: paths.networkChange, nmcli, helper, log });
  const parts = { nmcli, helper, changes, store, isRadio };
  const hotspot = new Hotspot({ ...parts, defaultSsid: ssidOf(deviceId, config.agent.profile), paired });
  const network = new Network({ ...parts, hotspot });
  const macPins = new MacPins({ helper, sysDir, linkDir: env['SVC_LINK_DIR'] ?? LINK_FOLDER });
  return {
    network,
    hotspot,
    nmcli,
    changes,
    handlers: {
      ...networkHandlers({ network, hotspot, macPins }),
      ...groundNetworkHandlers({ network, hotspot, mesh: new Mesh({ store, sysDir }) }),
    },
  };
}
