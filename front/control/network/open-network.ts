import { rm } from 'node:fs/promises';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { LINK_FOLDER } from '../../../shared/link-file.ts';
import type { FleetUplink } from '../../../shared/rpc/fleet.ts';
import type { Base } from '../node/base.ts';
import { Changes } from './change.ts';
import { groundNetworkHandlers } from './ground-network-handlers.ts';
import { Hotspot, ssidOf } from './hotspot.ts';
import { MacPins } from './mac.ts';
import { Mesh } from './mesh.ts';
import { MeteredVideo } from './metered-video.ts';
import { Mmcli } from './mmcli.ts';
import { Modems } from './modem.ts';
import { ModemStore } from './modem-store.ts';
import { Network } from './network.ts';
import { networkHandlers } from './network-handlers.ts';
import { NetworkStore } from './network-store.ts';
import { Nmcli } from './nmcli.ts';
import { Uplinks } from './uplinks.ts';

interface NetworkParts {
  readonly paired: () => boolean;
  /** Whether an interface is a card of the radio. */
  readonly isRadio: (iface: string) => boolean;
  /** The host of the hub's broker; null: the node is in no fleet. */
  readonly hub: () => string | null;
  /** What svc-fleet has to know of the uplink in use. */
  readonly onUplink: (uplink: FleetUplink) => void;
}

/** The machine's network. */
export function openNetwork(
  { config, paths, identity, helper, vehicle, sysDir, env, now, monotonic, log }: Base,
  { paired, isRadio, hub, onUplink }: NetworkParts,
) {
  const nmcli = new Nmcli(env);
  const store = new NetworkStore(paths.network);
  const changes = new Changes({ file: paths.networkChange, nmcli, helper, log });
  const parts = { nmcli, helper, changes, store, isRadio };
  const defaultSsid = ssidOf(identity.device_id, config.agent.profile);
  const hotspot = new Hotspot({ ...parts, defaultSsid, paired });
  const { network: own, fleet } = config;
  const video = new MeteredVideo({ videoSocket: paths.videoSocket, kbps: own.metered_video_kbps, log });
  let told: Promise<unknown> = Promise.resolve();
  const uplinks = new Uplinks({
    nmcli,
    helper,
    env,
    order: own.uplinks,
    metered: own.metered,
    priority: async () => (await store.read()).priority,
    isRadio,
    hub,
    onUse: ({ metered, change }) => {
      video.set(metered);
      told = writeAtomic(paths.uplink, JSON.stringify({ metered }), 0o644).catch((error: unknown) =>
        log.error(`${paths.uplink}: ${messageOf(error)}`),
      );
      const hz = metered ? Math.min(own.metered_telemetry_hz, fleet.telemetry_hz) : null;
      onUplink({ telemetry_hz: hz, change: change === null ? null : { ...change, metered } });
    },
    monotonic,
    now,
    log,
  });
  const network = new Network({ ...parts, hotspot, measured: uplinks });
  const macPins = new MacPins({ helper, sysDir, linkDir: env['SVC_LINK_DIR'] ?? LINK_FOLDER });
  const modems = new Modems({
    ...parts,
    mmcli: new Mmcli(env),
    store: new ModemStore(paths.modems),
    metric: async (iface) => network.metric(iface),
    armed: () => vehicle.anyArmed,
    log,
  });
  return {
    network,
    modems,
    uplinks: {
      start: () => uplinks.start(),
      stop: async () => {
        await uplinks.stop();
        await told;
        await rm(paths.uplink, { force: true });
      },
    },
    video,
    hotspot,
    nmcli,
    changes,
    handlers: {
      ...networkHandlers({ network, hotspot, macPins, modems }),
      ...groundNetworkHandlers({ network, hotspot, mesh: new Mesh({ store, sysDir }) }),
    },
  };
}
