import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { enabledFeatures } from './config/features.ts';
import type { Config } from './config/schema.ts';
import { ApiError } from './errors.ts';
import { cardFiles } from './first-boot/card-places.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** NetworkManager makes it when it starts, and it is gone after a restart of the machine. */
const RUN_FOLDER = '/run/NetworkManager';

/**
 * Whether there is anything to do for svc-machine: NetworkManager or a mesh, whose words it reads, a radio, or a file on the card that
 * the first boot applies. Where there is nothing, it is not started.
 */
export function hasMachineWork(config: Config, env: Env): boolean {
  const features = enabledFeatures(config);
  const managed =
    (isOnPath('nmcli', env) && existsSync(env['SVC_NETWORK_MANAGER_RUN'] ?? RUN_FOLDER)) ||
    isOnPath('batctl', env);
  return (
    (managed && (features.has('network') || features.has('ground-station'))) ||
    config.radio.mode !== 'off' ||
    cardFiles(env['SVC_BOOT_FILES']).some((file) => existsSync(file))
  );
}

/** Why a machine without such work has no answer about its network. */
export function noNetworkManager(env: Env): ApiError {
  return isOnPath('nmcli', env) ? notRunning() : withoutNmcli();
}

export function withoutNmcli(): ApiError {
  return new ApiError('E_NOT_IMPLEMENTED', 'nmcli is missing. Install network-manager.', {
    feature: 'network',
    missing: 'nmcli',
  });
}

export function notRunning(): ApiError {
  return new ApiError(
    'E_UPSTREAM_DOWN',
    'NetworkManager is not running on this machine. Start it: systemctl start NetworkManager.',
    { missing: 'NetworkManager' },
  );
}

/** @param program `batctl`, or the kernel's module `batman-adv` */
export function withoutMesh(program: 'batctl' | 'batman-adv'): ApiError {
  const what = program === 'batctl' ? 'batctl' : 'kernel module batman-adv';
  return new ApiError('E_NOT_IMPLEMENTED', `This machine has no ${what}, and without it there is no mesh.`, {
    missing: program,
    feature: 'ground-station',
  });
}

function isOnPath(program: string, env: Env): boolean {
  return (env['PATH'] ?? '').split(':').some((folder) => folder !== '' && existsSync(join(folder, program)));
}
