import { ApiError } from '../../shared/errors.ts';
import type { Handlers } from '../../shared/rpc/contract.ts';
import type { CommandRequest, LINK } from '../../shared/rpc/link.ts';
import type { RtkState } from '../../shared/rpc/link-answers.ts';
import type { EndpointStatus } from '../../shared/rpc/link-state.ts';
import type { FlightLogs } from './logs/flight-logs.ts';
import { checkBounds } from './mission-bounds.ts';
import { resetParams } from './params/reset.ts';
import type { Parts } from './parts.ts';

/** From the vehicle's acceptance of a reset of its parameters until they are read again. */
const RESET_MS = 1000;

const NO_CORRECTIONS: RtkState = {
  state: 'off',
  source: 'off',
  mountpoint: null,
  bytes: 0,
  frames: 0,
  bad_frames: 0,
  dropped: 0,
  messages: {},
  rate_bps: 0,
  age_s: null,
  problem: null,
  mountpoints: null,
};

/** The RPC methods of svc-link (shared/rpc/link.ts says what each does), and the part that each calls. */
export function linkMethods(parts: Parts, endpoints: () => readonly EndpointStatus[]) {
  const { commands, offboard, manual, commander, params, missions, calibration, signing, camera, pilot } =
    parts;
  return {
    command: async (request: CommandRequest, signal?: AbortSignal) => {
      const result = await commands.execute(request, signal);
      if (result.status === 'accepted') commander.tell(request.by);
      return result;
    },
    setpoint: ({ holder, point, by }) => {
      const state = offboard.take(holder, point);
      commander.tell(by);
      return state;
    },
    setpoint_end: ({ holder }) => {
      offboard.release(holder);
      return offboard.state;
    },
    manual: ({ holder, sticks, by }) => {
      const state = manual.take(holder, sticks);
      commander.tell(by);
      return state;
    },
    manual_end: ({ holder }) => {
      manual.release(holder);
      return manual.state;
    },
    params: () => params.snapshot(),
    param_set: async (request) => params.write(request),
    params_reset: async ({ force }) => {
      const { clock, vehicle, guard, encoder, exchange } = parts;
      const valueOf = (name: string): number | null => params.valueOf(name);
      const reset = await resetParams({ clock, vehicle, guard, encoder, exchange, valueOf, force });
      // PX4 answers before it begins, and ends within this time.
      clock.after(RESET_MS, () => params.download(false, true));
      return reset;
    },
    mission_read: async (request) => missions.read(request),
    mission_write: async (request) => missions.write(request),
    mission_reach: async (request) => {
      await checkBounds(parts, request);
      return {};
    },
    logs: async () => logsOf(parts).logs(),
    log_fetch: async ({ id }) => logsOf(parts).fetch(id),
    logs_erase: async ({ force }) => logsOf(parts).erase(force),
    calibration: async ({ seen }) => calibration.state(seen),
    calibrate: async (request) => calibration.begin(request),
    calibrate_confirm: async ({ pose }) => calibration.confirm(pose),
    calibrate_cancel: async () => calibration.cancel(),
    signing: () => signing.state,
    signing_enrol: async (request) => signing.enrol(request),
    signing_disable: async ({ force }) => signing.disable(force),
    camera: ({ camera: state }) => camera.tell(state),
    camera_done: (done) => camera.done(done),
    pilot: ({ client_id: clientId }) => {
      pilot.tell(clientId);
      return {};
    },
    extend: ({ extension, values }) => {
      parts.extensions.set(extension, values);
      parts.feed.telemetryChanged();
      return {};
    },
    messages: ({ name }) => parts.inspector.messages(name, parts.vehicle.family),
    remote_id: () => parts.remoteId.state,
    remote_id_place: (place) => {
      parts.remoteId.stand(place);
      return parts.remoteId.state;
    },
    rtk: () => parts.corrections?.state ?? NO_CORRECTIONS,
    endpoints,
    systems: () => parts.systems.list,
  } satisfies Handlers<typeof LINK>;
}

/** @throws ApiError E_NOT_IMPLEMENTED without a place for logs */
function logsOf({ logs }: Parts): FlightLogs {
  if (logs === null) throw new ApiError('E_NOT_IMPLEMENTED');
  return logs;
}
