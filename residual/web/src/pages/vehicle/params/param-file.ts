import { shownFloat } from '../../../../../../shared/flight/shown-float.ts';
import type { Param } from '../param.ts';

/**
 * Parameter files of QGroundControl (`1 1 NAME value type`, tabs), Mission Planner (`NAME,value`) and MAVProxy (`NAME value`);
 * `#` begins a comment.
 */

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,15}$/;

export interface ParamFile {
  readonly values: ReadonlyMap<string, number>;
  /** Numbers of lines that are none of these forms, from 1. */
  readonly unread: readonly number[];
}

export function readParamFile(text: string): ParamFile {
  const values = new Map<string, number>();
  const unread: number[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line
      .replace(/#.*/, '')
      .split(/[\s,=]+/)
      .filter((word) => word !== '');
    if (words.length === 0) continue;
    const [name = '', value = ''] = /^\d+$/.test(words[0] ?? '') ? words.slice(2, 4) : words;
    if (NAME.test(name) && value !== '' && Number.isFinite(Number(value))) values.set(name, Number(value));
    else unread.push(index + 1);
  }
  return { values, unread };
}

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
