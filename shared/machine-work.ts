import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { enabledFeatures } from './config/features.ts';
import type { Config } from './config/schema.ts';
import { cardFiles } from './first-boot/card-places.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What svc-machine runs for the network; `iw` is the radio's. */
const NETWORK_PROGRAMS = ['nmcli', 'batctl'];

/**
 * Whether there is anything to do for svc-machine: a network manager or a mesh whose words it reads, a radio, or a file on the card
 * that the first boot applies. Where there is nothing, it is not started.
 */
export function hasMachineWork(config: Config, env: Env): boolean {
  const features = enabledFeatures(config);
  const managed =
    (features.has('network') || features.has('ground-station')) &&
    NETWORK_PROGRAMS.some((program) => isOnPath(program, env['PATH'] ?? ''));
  return (
    managed ||
    config.radio.mode !== 'off' ||
    cardFiles(env['SVC_BOOT_FILES']).some((file) => existsSync(file))
  );
}

function isOnPath(program: string, path: string): boolean {
  return path.split(':').some((folder) => folder !== '' && existsSync(join(folder, program)));
}
