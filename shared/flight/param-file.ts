/** Parameters by name. */
export type ParamValues = Readonly<Record<string, number>>;

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,15}$/;
const VALUE = /^(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|0[xX][0-9a-fA-F]+)$/;
/** `NAME value`, `NAME,value`, `NAME=value`; ArduPilot's files of defaults may mark one as read-only. */
const PAIR = /^([^\s,=]+)(?:\s*[,=]\s*|\s+)(\S+?)(?:[\s,]+@READONLY)?$/i;
const DECIMAL_COMMA = /^[^\s,=]+(?:\s*[,=]\s*|\s+)[-+]?\d+,\d+$|^\d+\s+\d+\s+\S+\s+[-+]?\d+,\d+\s/;
const SHOWN = 60;

/** A line that is none of a parameter file. */
export class ParamLineError extends Error {
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Reads a parameter file as Mission Planner, MAVProxy and ours write it (`NAME value` or `NAME,value` a line), or QGroundControl
 * (vehicle, component, name, value and type, with tabs); `#` begins a comment, a value may be hexadecimal.
 * @throws ParamLineError that names the first line that is none of these: a value is never guessed
 */
export function readParamFile(text: string): ParamValues {
  const values: Record<string, number> = {};
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .entries()) {
    const bare = line.replace(/#.*$/, '').trim();
    if (bare === '') continue;
    const pair = pairIn(bare);
    if (pair === null) throw faultOf(index + 1, bare);
    values[pair.name] = Number(pair.value);
  }
  return values;
}

function pairIn(line: string): { readonly name: string; readonly value: string } | null {
  const words = line.split(/\s+/);
  const [system = '', component = '', ...rest] = words;
  const isQgc = words.length === 5 && /^\d+$/.test(system) && /^\d+$/.test(component);
  const [name = '', value = ''] = isQgc ? rest : (PAIR.exec(line)?.slice(1) ?? []);
  return NAME.test(name) && VALUE.test(value) ? { name, value } : null;
}

function faultOf(number: number, line: string): ParamLineError {
  const shown = line.slice(0, SHOWN);
  const why = DECIMAL_COMMA.test(line)
    ? `line ${number} has a decimal comma, and could be read as another number: ${shown}`
    : `line ${number} is not NAME value: ${shown}`;
  return new ParamLineError(number, why);
}
