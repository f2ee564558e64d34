import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ConfigInForce, configInForce } from '../../../shared/config/in-force.ts';
import type { Config } from '../../../shared/config/schema.ts';
import { sweepTemporary } from '../../../shared/files/atomic-write.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/profile.ts';
import type { Client } from '../../../shared/rpc/contract.ts';
import { type Helper, helperAt } from '../../../shared/rpc/helper-client.ts';
import type { SUPERVISOR } from '../../../shared/rpc/supervisor.ts';
import { deviceId } from '../stores/device-id.ts';
import { SystemMonitor } from './health.ts';
import { type Identity, identityOf } from './identity.ts';
import { VehicleView } from './vehicle-view.ts';

/** What every domain is opened with. */
export interface Base {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paths: Paths;
  /** Where the kernel shows its devices. */
  readonly devDir: string;
  readonly sysDir: string;
  readonly config: Config;
  readonly inForce: ConfigInForce;
  readonly profile: Profile;
  readonly isGround: boolean;
  readonly identity: Identity;
  readonly vehicle: VehicleView;
  readonly monitor: SystemMonitor;
  readonly supervisor: Client<typeof SUPERVISOR>;
  readonly helper: Helper;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  /** What is wrong with files that everything depends on, a sentence each. */
  readonly problems: readonly string[];
  readonly log: Logger;
}

/** Reads the config, and makes what every domain shares. */
export async function openBase(given: Pick<Base, 'env' | 'paths' | 'supervisor' | 'log'>): Promise<Base> {
  const { env, paths, log } = given;
  const inForce = await configInForce(paths, 'svc-control', log);
  const { config } = inForce;
  await mkdir(paths.run, { recursive: true, mode: 0o755 });
  await sweepTemporary(
    [paths.etc, paths.state, paths.paramsDir, paths.componentMetadata, dirname(paths.updateUpload)],
    Date.now(),
    (sentence) => log.warn(sentence),
  );
  const problems: string[] = [];
  const id = await deviceId(paths.deviceId, (sentence) => {
    log.error(`device id: ${sentence}`);
    problems.push(sentence);
  });
  const monotonic = (): number => performance.now();
  return {
    ...given,
    devDir: env['SVC_DEV_DIR'] ?? '/dev',
    sysDir: env['SVC_SYS_DIR'] ?? '/sys',
    config,
    inForce,
    profile: config.agent.profile,
    isGround: config.agent.profile === 'ground-station',
    identity: identityOf(id, config.agent.name),
    vehicle: new VehicleView(paths.linkSocket, monotonic),
    monitor: new SystemMonitor(paths.etc),
    helper: helperAt(paths.helperSocket),
    now: Date.now,
    monotonic,
    problems,
  };
}
