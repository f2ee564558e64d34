import { type ParamRow, type ParamType, paramRows } from './param-table.ts';

export interface Param {
  readonly name: string;
  readonly type: ParamType;
  value: number;
}

const LIMITS: Readonly<Record<ParamType, readonly [low: number, high: number]>> = {
  2: [-128, 127],
  4: [-32768, 32767],
  6: [-2147483648, 2147483647],
  9: [-Infinity, Infinity],
};

/** The vehicle's parameters. They live through a reboot, as on a real board. */
export class Params {
  readonly #all: readonly Param[];
  readonly #byName: ReadonlyMap<string, Param>;
  readonly #hidesSim: () => boolean;

  /** @param hidesSim true while the vehicle acts as a real one and has no SIM_* parameters */
  constructor(hidesSim: () => boolean, rows: readonly ParamRow[] = paramRows()) {
    this.#all = rows.map((row) => ({ ...row }));
    this.#byName = new Map(this.#all.map((param) => [param.name, param]));
    this.#hidesSim = hidesSim;
  }

  /** The parameters that the link sees; a parameter's index is its place here. */
  visible(): readonly Param[] {
    return this.#hidesSim() ? this.#all.filter((param) => !isSim(param.name)) : this.#all;
  }

  /** By name, as the link sees it. */
  find(name: string): Param | undefined {
    const param = this.#byName.get(name);
    return param !== undefined && isSim(name) && this.#hidesSim() ? undefined : param;
  }

  /** @throws Error for a name that is not in the table: a mistake in this program */
  get(name: string): number {
    return this.#own(name).value;
  }

  /** Stores a value the way ArduPilot does: an integer type drops the fraction and is clipped to its range. */
  set(name: string, value: number): void {
    const param = this.#own(name);
    const [low, high] = LIMITS[param.type];
    // The hundredth makes 2.999 (a float32's idea of 3) a 3; AP_Param does the same.
    const whole = param.type === 9 ? Math.fround(value) : Math.trunc(value + Math.sign(value) * 0.01);
    param.value = Math.min(high, Math.max(low, whole));
  }

  #own(name: string): Param {
    const param = this.#byName.get(name);
    if (param === undefined) throw new Error(`no parameter ${name}`);
    return param;
  }
}

function isSim(name: string): boolean {
  return name.startsWith('SIM_');
}
