import { seenIn } from '../../shared/flight/seen.ts';
import { movedBy, movedWords } from '../../shared/mission/flight-plan.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { Denial } from '../denial.ts';
import { ALLOW_FAR, moveAndWait, WAIT, WAITS } from './flight.ts';
import type { Tool, ToolAnswer, ToolContext } from './tool.ts';

/** Moves from where the vehicle is: `goto` to a place that follows from the telemetry. */

const far: JsonSchema = { type: 'number', description: 'm' };
const DIRECTIONS = ['north_m', 'east_m', 'forward_m', 'right_m', 'up_m'] as const;
/** @param altitude m above home that was asked for; null: by the directions */
async function move(context: ToolContext, altitude: number | null): Promise<ToolAnswer> {
  const telemetry = await context.ask('telemetry.get');
  const { alive, place, altitude: height, phase } = seenIn(telemetry);
  if (!alive || place === null || height === null)
    throw new Denial('precondition_failed', 'The position of the vehicle is not known, so nothing was sent.');
  if (phase === 'disarmed' || phase === 'on_ground')
    throw new Denial('precondition_failed', 'The vehicle is on the ground: flight_takeoff first.');
  const given = Object.fromEntries(
    DIRECTIONS.flatMap((name) =>
      typeof context.args[name] === 'number' ? [[name, context.args[name]]] : [],
    ),
  ) as Readonly<Record<string, number>>;
  if (altitude === null && Object.keys(given).length === 0)
    throw new Denial('invalid_arguments', `Say how far: ${DIRECTIONS.join(', ')}.`);
  const heading = telemetry.position?.heading ?? null;
  const refuse = (sentence: string): never => {
    throw new Denial('precondition_failed', `Nothing was sent: ${sentence}`);
  };
  const target = movedBy(given, { place, altitude: height, heading }, refuse);
  const up = altitude ?? target.altitude;
  if (up < 1)
    throw new Denial(
      'invalid_arguments',
      `${up} m above home is too low; 1 m is the least. Use flight_land.`,
    );
  const answer = await moveAndWait(context, 'goto', [target.lat, target.lon, up]);
  const { state, message } = answer.value;
  const what = altitude === null ? `Move ${movedWords(given)}` : `Change to ${up} m above home`;
  const how = answer.value['done'] === true ? 'done.' : typeof message === 'string' ? message : 'accepted.';
  const lines = [`${what}: ${how}`, ...(typeof state === 'string' ? [state] : [])];
  return { ...answer, text: lines.join('\n') };
}

export const flightMoveTools: readonly Tool[] = [
  {
    name: 'flight_move',
    title: 'Move',
    description: `Move from here in the air; forward and right by the heading.${WAITS}`,
    routes: ['command.post', 'telemetry.get'],
    input: {
      properties: {
        ...Object.fromEntries(DIRECTIONS.map((name) => [name, far])),
        allow_far: ALLOW_FAR,
        ...WAIT,
      },
    },
    idempotent: false,
    run: async (context) => move(context, null),
  },
  {
    name: 'flight_altitude',
    title: 'Change the height',
    description: `Climb or sink at this place, in the air.${WAITS}`,
    routes: ['command.post', 'telemetry.get'],
    input: {
      properties: {
        altitude_m: { type: 'number', minimum: 1, maximum: 500, description: 'm above home' },
        ...WAIT,
      },
      required: ['altitude_m'],
    },
    idempotent: true,
    run: async (context) => move(context, Number(context.args['altitude_m'])),
  },
];
