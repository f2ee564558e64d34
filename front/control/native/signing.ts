import { ApiError } from '../../../shared/errors.ts';
import type { flightRows } from '../../../shared/routes/flight.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { VehicleView } from '../node/vehicle-view.ts';

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
  const { link } = vehicle;
  return {
    'mavlink.signing.capability.get': async () => (await link.signing({})).capability,

    'mavlink.signing.require.get': async () => ({ require: (await link.signing({})).require }),

    'mavlink.signing.require.put': async ({ body: { require }, forced }) => {
      if ((await link.signing({})).require === null) {
        throw new ApiError(
          'E_NOT_FOUND',
          'The flight controller has no parameter SIGNING_REQUIRE, or has not sent it.',
        );
      }
      await link.param_set({ name: 'SIGNING_REQUIRE', value: require ? 1 : 0, force: forced });
      return { success: true, require };
    },

    'mavlink.signing.counters.get': async () => {
      const { counters, signing, key_id } = await link.signing({});
      return { ...counters, signing, key_id };
    },

    'mavlink.signing.enroll-fc.post': async ({ body, forced }) => {
      const { system_id: system, component_id: component } = vehicle.state ?? {
        system_id: null,
        component_id: null,
      };
      checkTarget('target_system', body.target_system, system);
      checkTarget('target_component', body.target_component, component);
      return link.signing_enrol({ key_hex: body.key_hex, link_id: body.link_id ?? 0, force: forced });
    },

    'mavlink.signing.disable-on-fc.post': async ({ forced }) => link.signing_disable({ force: forced }),
  };
}

/** If the caller names a vehicle, it must be the connected one. */
function checkTarget(name: string, asked: number | undefined, there: number | null): void {
  if (asked === undefined || there === null || asked === there) return;
  throw new ApiError('E_IDENTITY', `${name} is ${there} on the vehicle that is connected, not ${asked}.`);
}
