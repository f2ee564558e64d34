import { COMMANDS, type CommandArgument, type CommandName } from '../../shared/flight/command-catalogue.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { ALLOW_FAR, flying } from './flight.ts';
import type { Tool } from './tool.ts';

/** Speed, direction and payload, straight from the node's own catalogue of commands. */

type Head = Readonly<{ name: string; title: string; cmd: CommandName; phrase?: string }>;

const HEADS: readonly Head[] = [
  { name: 'flight_yaw', title: 'Turn', cmd: 'yaw' },
  { name: 'flight_speed', title: 'Speed', cmd: 'speed' },
  { name: 'flight_orbit', title: 'Orbit', cmd: 'orbit' },
  { name: 'camera_roi', title: 'Look at a place', cmd: 'roi' },
  { name: 'camera_roi_clear', title: 'Look ahead', cmd: 'roiClear' },
  { name: 'camera_photo', title: 'Take a photo', cmd: 'photo' },
  { name: 'gimbal_point', title: 'Point the gimbal', cmd: 'gimbal' },
  { name: 'payload_servo', title: 'Servo', cmd: 'servo' },
  { name: 'payload_relay', title: 'Relay', cmd: 'relay' },
  {
    name: 'payload_parachute',
    title: 'Parachute',
    cmd: 'parachute',
    phrase: 'RELEASE THE PARACHUTE',
  },
];

/** What a unit does not say. */
const WORDS: Readonly<Record<string, string>> = {
  alt: 'm above home',
  relative: '1: by the angle',
  output: 'of SERVOn',
  relay: 'the first is 0',
  on: '0 or 1',
  radius: 'm; below 0 counter-clockwise',
};

export const payloadTools: readonly Tool[] = HEADS.map(({ name, title, cmd, phrase }) => {
  const specs: readonly CommandArgument[] = COMMANDS[cmd].args;
  const required = specs.filter((spec) => spec.default === undefined).map((spec) => spec.name);
  return flying({
    name,
    title,
    cmd,
    input: {
      properties: {
        ...Object.fromEntries(specs.map((spec) => [spec.name, schemaOf(spec)])),
        ...(cmd === 'orbit' ? { allow_far: ALLOW_FAR } : {}),
      },
      ...(required.length === 0 ? {} : { required }),
    },
    args: (args) => specs.map((spec) => Number(args[spec.name] ?? spec.default)),
    options: {
      toolset: 'payload',
      ...(phrase === undefined ? {} : { least: 'destructive', phrase }),
    },
  });
});

function schemaOf({ name, integer, unit, min, max, default: usual }: CommandArgument): JsonSchema {
  return {
    type: integer === true ? 'integer' : 'number',
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
    ...(usual === undefined ? {} : { default: usual }),
    description: WORDS[name] ?? unit ?? name,
  };
}
