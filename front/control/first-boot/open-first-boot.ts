import { networkInterfaces } from 'node:os';
import { bootTime } from '../../../shared/boot-clock.ts';
import { cardFiles } from '../../../shared/first-boot/card-places.ts';
import type { Base } from '../node/base.ts';
import { FirstBoot, type FirstBootDeps } from './first-boot.ts';

type FirstBootParts = Pick<
  FirstBootDeps,
  'network' | 'hotspot' | 'nmcli' | 'isRadio' | 'port' | 'paired' | 'guests' | 'servesPage'
>;

/** What a node does by itself until somebody owns it. */
export function openFirstBoot(base: Base, parts: FirstBootParts): FirstBoot {
  const { config, paths, env, identity, helper, vehicle, supervisor, now, monotonic, log } = base;
  return new FirstBoot({
    ...parts,
    paths,
    files: cardFiles(env['SVC_BOOT_FILES']),
    helperSocket: paths.helperSocket,
    deviceId: identity.device_id,
    host: identity.mdns_host,
    config,
    helper,
    enabled: config.network.setup_hotspot,
    country: config.radio.region === '00' ? null : config.radio.region,
    interfaces: networkInterfaces,
    armed: () => vehicle.anyArmed,
    bootId: bootTime().boot_id,
    restart: async () => supervisor.calls.restart_self({}),
    now,
    monotonic,
    log,
  });
}
