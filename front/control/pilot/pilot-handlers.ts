import type { groundStationRows } from '../../../shared/routes/ground-station.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { PilotInCommand } from './pilot-in-command.ts';

type GroundHandlers = HandlersOf<typeof groundStationRows, 'front'>;

export function pilotHandlers(
  pilot: PilotInCommand,
): Pick<GroundHandlers, Extract<keyof GroundHandlers, `ground-station.pic.${string}`>> {
  return {
    'ground-station.pic.get': () => pilot.state,
    'ground-station.pic.claim.post': ({ principal, body }) =>
      pilot.claim(principal, body.client_id, body.take_over === true),
    'ground-station.pic.heartbeat.post': ({ principal, body }) =>
      pilot.heartbeat(principal, body.client_id, body.secret),
    'ground-station.pic.release.post': ({ principal, body }) => pilot.release(principal, body.client_id),
  };
}
