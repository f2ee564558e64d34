import { ardupilotmega, common, development, icarous, minimal, standard, uavionix } from 'mavlink-mappings';
import { NUMBERS } from '../../shared/logs/numbers.ts';
import { isKeyOf } from '../../shared/member.ts';
import type { MavlinkField, MavlinkMessage } from './src/pages/vehicle/viewer/read/mavlink-message.ts';

/** ArduPilot's messages before PX4's, where both gave a number away (https://mavlink.io/en/messages/#dialects). */
const REGISTRIES = [ardupilotmega, uavionix, icarous, common, standard, minimal, development].map(
  ({ REGISTRY }) => REGISTRY,
);
/** It has the key of signed frames. */
const SETUP_SIGNING = 256;

/** Names and places of the fields of all MAVLink messages, as the page's reader of telemetry logs takes them. */
export function mavlinkMessages(): readonly MavlinkMessage[] {
  const found = new Map<number, MavlinkMessage>();
  for (const message of REGISTRIES.flatMap((registry) => Object.values(registry))) {
    const { MSG_ID: id, MSG_NAME: name, FIELDS: fields } = message;
    if (!found.has(id)) found.set(id, [id, name, id === SETUP_SIGNING ? [] : fields.flatMap(fieldOf)]);
  }
  return [...found.values()];
}

function fieldOf(field: {
  readonly source: string;
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly units: string;
}): readonly MavlinkField[] {
  const type = field.type.replace('[]', '').replace('_mavlink_version', '');
  if (type !== 'char' && !isKeyOf(NUMBERS, type)) return [];
  return [[field.source, type, field.offset, Math.max(1, field.length), field.units]];
}
