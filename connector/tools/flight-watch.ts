import { readinessOf } from '../../shared/flight/readiness.ts';
import { metresBetween, type Place, type SeenVehicle, seenIn, stateLine } from '../../shared/flight/seen.ts';
import { Denial } from '../denial.ts';
import type { Told } from '../planes/ask.ts';
import type { Arguments, Tool } from './tool.ts';
import { TIMEOUT, waitFor } from './waiting.ts';

/** Tools that watch the vehicle and change nothing. */

type Condition = (seen: SeenVehicle) => boolean;

/** All conditions that the arguments name. @throws Denial invalid_arguments */
function conditions(args: Arguments): { readonly all: readonly Condition[]; readonly place: Place | null } {
  const all: Condition[] = [];
  const number = (name: string, fits: (seen: SeenVehicle, limit: number) => boolean): void => {
    const limit = args[name];
    if (typeof limit === 'number') all.push((seen) => fits(seen, limit));
  };
  const { lat, lon, mode, armed, landed } = args;
  const place = typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : null;
  if ((args['distance_below_m'] !== undefined) !== (place !== null))
    throw new Denial('invalid_arguments', 'distance_below_m, lat and lon go together.');
  number('altitude_above_m', ({ altitude }, limit) => altitude !== null && altitude > limit);
  number('altitude_below_m', ({ altitude }, limit) => altitude !== null && altitude < limit);
  number('battery_below', ({ battery }, limit) => battery !== null && battery < limit);
  number(
    'distance_below_m',
    (seen, limit) => place !== null && seen.place !== null && metresBetween(seen.place, place) < limit,
  );
  if (typeof mode === 'string') all.push((seen) => seen.mode?.toUpperCase() === mode.toUpperCase());
  if (typeof armed === 'boolean') all.push((seen) => seen.armed === armed);
  // Not every firmware says whether it is on the ground; without motors it is.
  if (typeof landed === 'boolean')
    all.push((seen) => (seen.armed === false || seen.landed === 'on_ground') === landed);
  if (all.length === 0) throw new Denial('invalid_arguments', 'Name at least one condition.');
  return { all, place };
}

const metres = { type: 'number', minimum: -500, maximum: 10_000, description: 'm above home' } as const;
/** ArduPilot repeats its failed checks every 30 s: what is older has been mended. */
const TOLD_MS = 40_000;
const FAILED_CHECK = /^(?:PreArm|Preflight Fail): /;
/** The refusal of one try, for example in a mode that has been changed since. */
const FAILED_TRY = /^(?:Arm: |Arming denied)/;
const FIX_3D = 3;
const LOW_BATTERY = 20;

export const watchTools: readonly Tool[] = [
  {
    name: 'wait_until',
    title: 'Wait for the vehicle',
    description: 'Waits until all given conditions hold at once.',
    routes: ['telemetry.get'],
    input: {
      properties: {
        altitude_above_m: metres,
        altitude_below_m: metres,
        distance_below_m: {
          type: 'number',
          minimum: 0.5,
          maximum: 1_000_000,
          description: 'm from lat, lon',
        },
        lat: { type: 'number', minimum: -90, maximum: 90, description: 'deg' },
        lon: { type: 'number', minimum: -180, maximum: 180, description: 'deg' },
        mode: { type: 'string', minLength: 1, maxLength: 32, description: 'its name' },
        armed: { type: 'boolean', description: 'its motors' },
        landed: { type: 'boolean', description: 'on the ground' },
        battery_below: { type: 'number', minimum: 0, maximum: 100, description: 'percent' },
        timeout_s: TIMEOUT,
      },
    },
    idempotent: true,
    run: async (context) => {
      const { all, place } = conditions(context.args);
      const waited = await waitFor(context, {
        timeoutS: context.args['timeout_s'],
        doing: 'waiting',
        place,
        judge: (seen) => (all.every((holds) => holds(seen)) ? 'reached' : null),
        acted: false,
      });
      const { ended } = waited;
      return {
        value: { met: ended === 'reached', ...waited },
        isError: ended === 'link_lost' || ended === 'unseen',
      };
    },
  },
  {
    name: 'flight_check',
    title: 'Can it arm',
    description: "What speaks against arming: the vehicle's own words, position, battery.",
    routes: ['telemetry.get'],
    input: { properties: {} },
    idempotent: true,
    run: async ({ ask }) => {
      const telemetry = await ask('telemetry.get');
      const seen = seenIn(telemetry);
      const prearm = readinessOf(telemetry);
      const reasons = [
        ...(seen.alive ? [] : ['Nothing is heard of the flight controller.']),
        ...(seen.armed === true ? ['It is armed already.'] : []),
        ...(prearm?.reasons ?? told(telemetry, FAILED_CHECK)),
        ...(prearm?.canArm === false && prearm.reasons.length === 0 ? ['Its own checks fail.'] : []),
      ];
      const unsaid = prearm?.canArm === null && reasons.length === 0;
      const warnings = [
        ...(unsaid ? ['The vehicle does not say whether it can arm.'] : []),
        ...told(telemetry, FAILED_TRY).map((text) => `A try was refused lately: ${text}`),
        ...(telemetry.ekf?.ok === true ? [] : ['The estimator is not sure of the position.']),
        ...((telemetry.gps?.fix_type ?? 0) >= FIX_3D ? [] : ['There is no 3D fix.']),
        ...(seen.battery !== null && seen.battery < LOW_BATTERY
          ? [`The battery has ${seen.battery} %.`]
          : []),
      ];
      const canArm = unsaid ? null : reasons.length === 0;
      const help = (prearm?.help ?? []).flatMap(({ args }) => args);
      return { value: { can_arm: canArm, reasons, help, warnings, state: stateLine(seen) } };
    },
  },
];

/** What the vehicle has said lately, by the node's own clock. */
function told(
  { statustext: lines = [], last_heartbeat: heard }: Told<'telemetry.get'>,
  wanted: RegExp,
): readonly string[] {
  const now = Date.parse(String(heard));
  const texts = lines
    .filter(({ at }) => Number.isNaN(now) || now - Date.parse(String(at)) < TOLD_MS)
    .map(({ text }) => String(text))
    .filter((text) => wanted.test(text));
  return [...new Set(texts)];
}
