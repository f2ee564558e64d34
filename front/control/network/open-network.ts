import { LINK_FOLDER } from '../../../shared/link-file.ts';
import type { Base } from '../node/base.ts';
import { Changes } from './change.ts';
import { groundNetworkHandlers } from './ground-network-handlers.ts';
import { Hotspot, ssidOf } from './hotspot.ts';
import { MacPins } from './mac.ts';
import { Mesh } from './mesh.ts';
import { Mmcli } from './mmcli.ts';
import { Modems } from './modem.ts';
import { ModemStore } from './modem-store.ts';
import { Network } from './network.ts';
import { networkHandlers } from './network-handlers.ts';
import { NetworkStore } from './network-store.ts';
import { Nmcli } from './nmcli.ts';

interface NetworkParts {
  readonly paired: () => boolean;
  /** Whether an interface is a card of the radio. */
  readonly isRadio: (iface: string) => boolean;
}

/** The machine's network. */
export function openNetwork(
  { config, paths, identity, helper, vehicle, sysDir, env, log }: Base,
  { paired, isRadio }: NetworkParts,
) {
  const nmcli = new Nmcli(env);
  const store = new NetworkStore(paths.network);
  const changes = new Changes({ file: paths.networkChange, nmcli, helper, log });
  const parts = { nmcli, helper, changes, store, isRadio };
  const defaultSsid = ssidOf(identity.device_id, config.agent.profile);
  const hotspot = new Hotspot({ ...parts, defaultSsid, paired });
  const network = new Network({ ...parts, hotspot });
  const macPins = new MacPins({ helper, sysDir, linkDir: env['SVC_LINK_DIR'] ?? LINK_FOLDER });
  const modems = new Modems({
    ...parts,
    mmcli: new Mmcli(env),
    store: new ModemStore(paths.modems),
    metric: async (iface) => network.metric(iface),
    armed: () => vehicle.armed,
    log,
  });
  return {
    network,
    modems,
    hotspot,
    nmcli,
    changes,
    handlers: {
      ...networkHandlers({ network, hotspot, macPins, modems }),
      ...groundNetworkHandlers({ network, hotspot, mesh: new Mesh({ store, sysDir }) }),
    },
  };
}
