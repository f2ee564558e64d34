import { setConfigKey } from '../../../shared/config/write.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import { VERSION } from '../../../shared/version.ts';
import type { Base } from '../node/base.ts';
import { ActiveDrone } from './active-drone.ts';
import { type GroundDeps, groundStationHandlers } from './ground-handlers.ts';
import { GroundRole } from './ground-role.ts';
import { GroundUi } from './ground-ui.ts';

interface GroundParts
  extends Pick<
    GroundDeps,
    'radios' | 'reset' | 'pilot' | 'nodeStartedAt' | 'health' | 'link' | 'linkOf' | 'video' | 'residual'
  > {
  /** As GET /api/v1/ground-station/network. */
  readonly network: () => Promise<MadeAnswer<'ground-station.network.get'>>;
}

/** What a ground station is beside a node: its drones, its role, its screen. */
export function openGround(base: Base, parts: GroundParts) {
  const { config, paths, identity, supervisor, sysDir, vehicle, monitor, isGround, now, log } = base;
  const active = new ActiveDrone({
    file: paths.activeDrone,
    radios: parts.radios,
    restart: async (name) => supervisor.calls.restart({ name }),
    log,
  });
  const role = new GroundRole({
    configured: config.agent.role,
    sysDir,
    keep: async (value) => setConfigKey(paths, 'agent.role', value),
  });
  const handlers = groundStationHandlers({
    ...parts,
    network: async () =>
      parts.network().catch((error: unknown) => {
        log.debug(`network: ${messageOf(error)}`); // its own routes say why
        return null;
      }),
    deviceId: identity.device_id,
    active,
    role,
    ui: new GroundUi(paths.groundUi),
    vehicle,
    monitor,
    version: VERSION,
    now,
  });
  return { active, role: async () => (isGround ? (await role.state()).role : null), handlers };
}
