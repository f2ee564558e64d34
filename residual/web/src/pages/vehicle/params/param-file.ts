import { shownFloat } from '../../../../../../shared/flight/shown-float.ts';
import type { Param } from '../../../vehicle/param.ts';

/** Parameter files as others read them; they are read by shared/flight/param-file.ts. */

/** As Mission Planner writes it. */
export function commaFile(params: readonly Param[]): string {
  return params.map(({ name, value }) => `${name},${shownFloat(value)}\n`).join('');
}

/** As QGroundControl writes it. */
export function tabFile(params: readonly Param[], systemId: number): string {
  const lines = params.map(({ name, value, details }) =>
    [systemId, 1, name, shownFloat(value), details?.type ?? FLOAT].join('\t'),
  );
  return `# Vehicle-Id Component-Id Name Value Type\n${lines.join('\n')}\n`;
}

// MAV_PARAM_TYPE_REAL32
const FLOAT = 9;
