import { rm } from 'node:fs/promises';
import { bootTime } from '../../shared/boot-clock.ts';
import type { Config } from '../../shared/config/schema.ts';
import { messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { cardFiles } from '../../shared/first-boot/card-places.ts';
import type { Armed } from '../../shared/flight/armed.ts';
import type { Paths } from '../../shared/paths.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { named, type Service } from '../../shared/process/services.ts';
import { askLinkState } from '../../shared/rpc/ask-link-state.ts';
import type { Calls, ParamsOf } from '../../shared/rpc/contract.ts';
import { helperAt } from '../../shared/rpc/helper-client.ts';
import type { MACHINE, MachineHandlers, UplinkUse } from '../../shared/rpc/machine.ts';
import type { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { FirstBoot } from './first-boot/first-boot.ts';
import { stationsOf } from './iw.ts';
import { Changes } from './network/change.ts';
import { groundNetworkHandlers } from './network/ground-network-handlers.ts';
import { Hotspot, ssidOf } from './network/hotspot.ts';
import { Mesh } from './network/mesh.ts';
import { MeteredVideo } from './network/metered-video.ts';
import { Mmcli } from './network/mmcli.ts';
import { Modems } from './network/modem.ts';
import { ModemStore } from './network/modem-store.ts';
import { Network } from './network/network.ts';
import { networkHandlers } from './network/network-handlers.ts';
import { NetworkStore } from './network/network-store.ts';
import { Nmcli } from './network/nmcli.ts';
import { Uplinks } from './network/uplinks.ts';

/** What svc-control tells. */
export type NodeFacts = ParamsOf<typeof MACHINE, 'know'>;

interface MachineDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paths: Paths;
  readonly config: Config;
  /** What svc-control has told last. */
  readonly node: () => NodeFacts;
  readonly supervisor: Calls<typeof SUPERVISOR>;
  readonly onUplink: (use: UplinkUse) => void;
  readonly log: Logger;
}

/** The machine's network, and what a node does by itself until somebody owns it. */
export function openMachine({ env, paths, config, node, supervisor, onUplink, log }: MachineDeps): {
  readonly handlers: MachineHandlers;
  readonly ground: Network['ground'];
  readonly services: readonly Service[];
} {
  const { device_id: deviceId } = node();
  const sysDir = env['SVC_SYS_DIR'] ?? '/sys';
  const monotonic = (): number => performance.now();
  const paired = (): boolean => node().paired;
  const isRadio = (iface: string): boolean => node().radio_cards.includes(iface);
  // Who does not answer may be flying.
  const armed = async (): Promise<Armed> =>
    askLinkState(paths.linkSocket).then(
      ({ guard_any: guard }) => guard,
      () => 'unknown',
    );
  const helper = helperAt(paths.helperSocket);
  const nmcli = new Nmcli(env);
  const store = new NetworkStore(paths.network);
  const changes = new Changes({ file: paths.networkChange, nmcli, helper, log });
  const parts = { nmcli, helper, changes, store, isRadio };
  const hotspot = new Hotspot({ ...parts, defaultSsid: ssidOf(deviceId, config.agent.profile), paired });
  const own = config.network;
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
    hub: () => node().hub,
    onUse: (use) => {
      const { metered } = use;
      video.set(metered);
      told = writeAtomic(paths.uplink, JSON.stringify({ metered }), 0o644).catch((error: unknown) =>
        log.error(`${paths.uplink}: ${messageOf(error)}`),
      );
      onUplink(use);
    },
    monotonic,
    now: Date.now,
    log,
  });
  const network = new Network({ ...parts, hotspot, measured: uplinks });
  const modems = new Modems({
    ...parts,
    mmcli: new Mmcli(env),
    store: new ModemStore(paths.modems),
    metric: async (iface) => network.metric(iface),
    armed,
    log,
  });
  const firstBoot = new FirstBoot({
    ...parts,
    network,
    hotspot,
    paths,
    config,
    files: cardFiles(env['SVC_BOOT_FILES']),
    helperSocket: paths.helperSocket,
    deviceId,
    enabled: own.setup_hotspot,
    country: config.radio.region === '00' ? null : config.radio.region,
    port: () => node().port,
    paired,
    armed,
    guests: stationsOf,
    bootId: bootTime().boot_id,
    restart: async () => supervisor.restart_self({}),
    now: Date.now,
    monotonic,
    log,
  });
  return {
    handlers: {
      ...networkHandlers({ network, hotspot, modems }),
      ...groundNetworkHandlers({ network, hotspot, mesh: new Mesh({ store, sysDir }) }),
    },
    ground: async () => network.ground(),
    services: [
      named('network changes', changes),
      named('modems', modems),
      named('metered video', video),
      {
        name: 'uplinks',
        start: () => uplinks.start(),
        stop: async () => {
          await uplinks.stop();
          await told;
          await rm(paths.uplink, { force: true });
        },
      },
      named('first boot', firstBoot),
    ],
  };
}
