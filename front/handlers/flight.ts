import { basename } from 'node:path';
import { ApiError } from '../../shared/errors.ts';
import { COMMANDS, checkArguments, commandNamed } from '../../shared/flight/command-catalogue.ts';
import type { CommandRequest, LinkState, ParamsSnapshot } from '../../shared/ipc/link-protocol.ts';
import type { flightRows } from '../../shared/routes/flight.ts';
import type { HandlersOf } from '../../shared/routes/handler.ts';
import type { SerialPortEntry } from '../link/sources/serial-ports.ts';
import type { VehicleView } from '../vehicle-view.ts';

const PARAMS_MS = 5000;
const COMMAND_MS = 25_000;

/** @param ports lists the serial ports of this machine */
export function flightHandlers(
  vehicle: VehicleView,
  ports: () => Promise<readonly SerialPortEntry[]>,
): HandlersOf<typeof flightRows, 'front'> {
  return {
    'command.post': async ({ body }) => {
      const cmd = commandNamed(body.cmd);
      if (cmd === null) {
        const known = Object.keys(COMMANDS);
        throw new ApiError('E_BAD_REQUEST', `Unknown command: ${body.cmd}. Known: ${known.join(', ')}.`);
      }
      const args = checkArguments(cmd, body.args ?? []);
      if (typeof args === 'string') throw new ApiError('E_BAD_REQUEST', args);
      const request: CommandRequest =
        body.timeout_ms === undefined ? { cmd, args } : { cmd, args, timeout_ms: body.timeout_ms };
      return vehicle.client.call('command', request, COMMAND_MS);
    },

    'commands.get': () => ({ commands: COMMANDS }),

    'telemetry.get': () => {
      const { state } = vehicle;
      if (state === null)
        throw new ApiError('E_UPSTREAM_DOWN', 'svc-link is not answering at the moment. Try again shortly.');
      return telemetryOf(state);
    },

    'mavlink.ports.get': async () => ({
      ports: (await ports()).map(({ path, byId }) => ({
        path,
        description: basename(byId ?? path),
        by_id: byId,
      })),
    }),

    'params.get': async () => {
      const { params, cached, expected, priming, timed_out } = await snapshot(vehicle);
      return {
        params: Object.fromEntries(Object.entries(params).map(([name, { value }]) => [name, value])),
        count: expected,
        cached,
        priming,
        priming_timeout: timed_out,
        progress: { got: cached, expected },
      };
    },

    'params.name.get': async ({ params: { name } }) => {
      const { params, priming } = await snapshot(vehicle);
      const found = Object.hasOwn(params, name) ? params[name] : undefined;
      if (found === undefined) {
        const more = priming ? ' The download is still under way.' : '';
        throw new ApiError('E_NOT_FOUND', `The vehicle has no parameter ${name}.${more}`);
      }
      return { name, value: found.value, type: found.type };
    },
  };
}

/** The body of GET /api/telemetry and of each message on its WebSocket. */
export function telemetryOf(state: LinkState): Readonly<Record<string, unknown>> {
  const { params } = state;
  return {
    mavlink_alive: state.mavlink_alive,
    heartbeat_age_s: state.heartbeat_age_s,
    ...state.telemetry,
    // Of a vehicle that fell silent nobody knows whether its motors turn.
    armed: state.mavlink_alive ? state.telemetry.armed : null,
    statustext: state.statustext,
    param_cached_count: params.cached,
    param_expected_count: params.expected,
    param_generation: params.generation,
    param_priming: params.priming,
  };
}

async function snapshot(vehicle: VehicleView): Promise<ParamsSnapshot> {
  return (await vehicle.client.call('params', {}, PARAMS_MS)) as ParamsSnapshot;
}
