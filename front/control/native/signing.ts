import { ApiError } from '../../../shared/errors.ts';
import type { flightRows } from '../../../shared/routes/flight.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { ParamWriteRequest, SigningEnrolRequest, SigningState } from '../../../shared/rpc/link.ts';
import type { VehicleView } from '../vehicle-view.ts';

const READ_MS = 2000;
/** Two sends, 5 s of listening, and taking it back. */
const CHANGE_MS = 10_000;

type SigningHandlers = Pick<
  HandlersOf<typeof flightRows, 'front'>,
  | 'mavlink.signing.capability.get'
  | 'mavlink.signing.require.get'
  | 'mavlink.signing.require.put'
  | 'mavlink.signing.counters.get'
  | 'mavlink.signing.enroll-fc.post'
  | 'mavlink.signing.disable-on-fc.post'
>;

export function signingHandlers(vehicle: VehicleView): SigningHandlers {
  const state = async (): Promise<SigningState> =>
    (await vehicle.client.call('signing', {}, READ_MS)) as SigningState;
  return {
    'mavlink.signing.capability.get': async () => (await state()).capability,

    'mavlink.signing.require.get': async () => ({ require: (await state()).require }),

    'mavlink.signing.require.put': async ({ body: { require }, forced }) => {
      if ((await state()).require === null) {
        throw new ApiError(
          'E_NOT_FOUND',
          'The flight controller has no parameter SIGNING_REQUIRE, or has not told it.',
        );
      }
      const request: ParamWriteRequest = { name: 'SIGNING_REQUIRE', value: require ? 1 : 0, force: forced };
      await vehicle.client.call('param_set', request, CHANGE_MS);
      return { success: true, require };
    },

    'mavlink.signing.counters.get': async () => {
      const { counters, signing, key_id } = await state();
      return { ...counters, signing, key_id };
    },

    'mavlink.signing.enroll-fc.post': async ({ body, forced }) => {
      const { system_id: system, component_id: component } = vehicle.state ?? {
        system_id: null,
        component_id: null,
      };
      checkTarget('target_system', body.target_system, system);
      checkTarget('target_component', body.target_component, component);
      const request: SigningEnrolRequest = {
        key_hex: body.key_hex,
        link_id: body.link_id ?? 0,
        force: forced,
      };
      return vehicle.client.call('signing_enrol', request, CHANGE_MS);
    },

    'mavlink.signing.disable-on-fc.post': async ({ forced }) =>
      vehicle.client.call('signing_disable', { force: forced }, CHANGE_MS),
  };
}

/** A caller that names its vehicle means that one and no other. */
function checkTarget(name: string, asked: number | undefined, there: number | null): void {
  if (asked === undefined || there === null || asked === there) return;
  throw new ApiError('E_IDENTITY', `${name} is ${there} on the vehicle that is connected, not ${asked}.`);
}
