import { basename } from 'node:path';
import { ApiError } from '../../../shared/errors.ts';
import {
  COMMANDS,
  checkArguments,
  commandNamed,
  missingConfirmation,
} from '../../../shared/flight/command-catalogue.ts';
import { GOAL_NAMES, isGoalName } from '../../../shared/flight/goals.ts';
import type { SerialPortEntry } from '../../../shared/flight/serial-ports.ts';
import type { flightRows } from '../../../shared/routes/flight.ts';
import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { CommandRequest } from '../../../shared/rpc/link.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import type { ParamMetadata } from '../param-metadata/param-metadata.ts';
import { AwaitedFlights } from './awaited-flights.ts';
import { calibrationHandlers } from './calibration.ts';
import { paramHandlers } from './params.ts';
import { signingHandlers } from './signing.ts';

/** s */
const WAIT_S = 120;

/** @param ports lists the serial ports of this machine */
export function flightHandlers(
  vehicle: VehicleView,
  ports: () => Promise<readonly SerialPortEntry[]>,
  metadata: ParamMetadata,
): HandlersOf<typeof flightRows, 'front'> {
  const now = (): number => performance.now();
  const flights = new AwaitedFlights(vehicle, now);
  return {
    'command.post': async ({ body, principal, progress }) => {
      const cmd = commandNamed(body.cmd);
      if (cmd === null) {
        const known = Object.keys(COMMANDS);
        throw new ApiError('E_BAD_REQUEST', `Unknown command: ${body.cmd}. Known: ${known.join(', ')}.`);
      }
      const args = checkArguments(cmd, body.args ?? []);
      if (typeof args === 'string') throw new ApiError('E_BAD_REQUEST', args);
      const unconfirmed = missingConfirmation(cmd, body.confirm);
      if (unconfirmed !== null) throw new ApiError('E_BAD_REQUEST', unconfirmed);
      const request: CommandRequest = {
        cmd,
        args,
        by: principal.id,
        ...(body.timeout_ms === undefined ? {} : { timeout_ms: body.timeout_ms }),
        ...(body.allow_far === undefined ? {} : { allow_far: body.allow_far }),
        ...(body.manual === undefined ? {} : { manual: body.manual }),
        ...(body.dry_run === undefined ? {} : { dry_run: body.dry_run }),
      };
      if (body.wait !== true || body.dry_run === true) return vehicle.link.command(request);
      if (!isGoalName(cmd))
        throw new ApiError('E_BAD_REQUEST', `wait: only for ${GOAL_NAMES.join(', ')}, not for ${cmd}.`);
      return flights.fly({ ...request, cmd }, body.wait_s ?? WAIT_S, progress);
    },

    'commands.get': () => ({ commands: COMMANDS }),

    'telemetry.get': () => {
      const text = vehicle.telemetryText;
      if (text === null)
        throw new ApiError('E_UPSTREAM_DOWN', 'svc-link is not answering at the moment. Try again shortly.');
      return new Reply(200, text);
    },

    'mavlink.ports.get': async () => ({
      ports: (await ports()).map(({ path, byId }) => ({
        path,
        description: basename(byId ?? path),
        by_id: byId,
      })),
    }),

    'mavlink.messages.get': async ({ query }) => ({
      messages: await vehicle.link.messages({ name: parseQuery(query)?.['name'] ?? null }),
    }),

    'remote-id.get': async () => vehicle.link.remote_id({}),
    'remote-id.operator-place.put': async ({ body: { lat, lon, alt } }) =>
      vehicle.link.remote_id_place({ lat, lon, alt: alt ?? null }),
    'rtk.get': async () => vehicle.link.rtk({}),

    ...paramHandlers(vehicle, metadata),
    ...signingHandlers(vehicle),
    ...calibrationHandlers(vehicle, now),
  };
}
