import type { NUMBERS } from '../../../../../../../shared/logs/numbers.ts';

/** A field: its name, its type in C, where it is in the payload, how many there are, and what it is in. */
export type MavlinkField = readonly [
  name: string,
  type: keyof typeof NUMBERS | 'char',
  at: number,
  count: number,
  unit: string,
];

/** A message of MAVLink; the build of the page makes them all (residual/web/mavlink-fields.ts). */
export type MavlinkMessage = readonly [id: number, name: string, fields: readonly MavlinkField[]];
