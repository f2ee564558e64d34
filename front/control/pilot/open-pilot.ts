import type { PrincipalWatch } from '../edge/principal-watch.ts';
import type { Base } from '../node/base.ts';
import { pilotHandlers } from './pilot-handlers.ts';
import { PilotInCommand } from './pilot-in-command.ts';
import { pilotSockets } from './pilot-sockets.ts';

/** Who flies from a ground station. */
export function openPilot({ now, vehicle, log }: Base, principalWatch: PrincipalWatch) {
  const pilot = new PilotInCommand({
    now,
    armed: () => vehicle.armed,
    principalWatch,
    tell: async (clientId) => vehicle.link.pilot({ client_id: clientId }),
    log,
  });
  return { pilot, handlers: pilotHandlers(pilot), sockets: pilotSockets(pilot) };
}
