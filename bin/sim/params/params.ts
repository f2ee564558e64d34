import type { ParamRow, ParamType } from './ardupilot-param-table.ts';

export type { ParamType } from './ardupilot-param-table.ts';

export interface Param {
  readonly name: string;
  readonly type: ParamType;
  /** Value at the start of the program. */
  readonly initial: number;
  value: number;
}

/** Where a firmware keeps a value that the flight code asks for by ArduCopter's name: `value = own * scale`. */
export interface Alias {
  readonly name: string;
  readonly scale: number;
}

/** A firmware's parameters. The flight code knows ArduCopter's names and units only. */
export interface ParamTable {
  /** What the link sees, in the order of the indexes. */
  readonly rows: readonly ParamRow[];
  readonly aliases: ReadonlyMap<string, Alias>;
  /** Values that the flight code needs and the firmware has no parameter for. */
  readonly hidden: readonly ParamRow[];
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
  readonly #hidden: ReadonlyMap<string, Param>;
  readonly #aliases: ReadonlyMap<string, Alias>;
  readonly #hidesSim: () => boolean;
  readonly #late: () => number;
  #erased = false;

  /**
   * @param hidesSim true while the vehicle acts as a real one and has no SIM_* parameters
   * @param late so many of the last ones are not there yet
   * @param count at least so many parameters: the table is filled up with SIM_FILL_nnnn (USER_FILL_nnnn without SIM_*)
   */
  constructor(hidesSim: () => boolean, table: ParamTable, count = 0, late: () => number = () => 0) {
    this.#late = late;
    const seen = hidesSim() ? table.rows.filter(({ name }) => !isSim(name)) : table.rows;
    const prefix = hidesSim() ? 'USER' : 'SIM';
    const fill = Array.from({ length: Math.max(0, count - seen.length) }, (_, i): ParamRow => {
      return { name: `${prefix}_FILL_${String(i).padStart(4, '0')}`, type: 9, value: i };
    });
    this.#all = [...table.rows, ...fill].map(toParam);
    this.#byName = byName(this.#all);
    this.#hidden = byName(table.hidden.map(toParam));
    this.#aliases = table.aliases;
    this.#hidesSim = hidesSim;
  }

  /** The parameters that the link sees; a parameter's index is its place here. */
  visible(): readonly Param[] {
    const all = this.#hidesSim() ? this.#all.filter((param) => !isSim(param.name)) : this.#all;
    const late = this.#late();
    return late === 0 ? all : all.slice(0, Math.max(0, all.length - late));
  }

  /** By name, as the link sees it. */
  find(name: string): Param | undefined {
    const param = this.#byName.get(name);
    return param !== undefined && isSim(name) && this.#hidesSim() ? undefined : param;
  }

  /** @throws Error for a name that is not in the table: a mistake in this program */
  get(name: string): number {
    const alias = this.#aliases.get(name);
    return alias === undefined ? this.#own(name).value : this.#own(alias.name).value * alias.scale;
  }

  /** Stores a value the way ArduPilot does: an integer type drops the fraction and is clipped to its range. */
  set(name: string, value: number): void {
    const alias = this.#aliases.get(name);
    const param = this.#own(alias?.name ?? name);
    const [low, high] = LIMITS[param.type];
    const own = value / (alias?.scale ?? 1);
    // The hundredth makes 2.999 (a float32's idea of 3) a 3; AP_Param does the same.
    const whole = param.type === 9 ? Math.fround(own) : Math.trunc(own + Math.sign(own) * 0.01);
    param.value = Math.min(high, Math.max(low, whole));
  }

  /** ArduPilot's reset: the storage is erased, the values in use stay until the next boot. */
  erase(): void {
    this.#erased = true;
  }

  /** Back to the defaults at once, but for `kept`. What the command line says of the simulator itself (SIM_*) stays. */
  reset(kept: readonly string[] = []): void {
    for (const param of this.#all) {
      if (!isSim(param.name) && !kept.includes(param.name)) param.value = param.initial;
    }
  }

  boot(): void {
    if (this.#erased) this.reset();
    this.#erased = false;
  }

  #own(name: string): Param {
    const param = this.#byName.get(name) ?? this.#hidden.get(name);
    if (param === undefined) throw new Error(`no parameter ${name}`);
    return param;
  }
}

function toParam({ name, type, value }: ParamRow): Param {
  return { name, type, initial: value, value };
}

function byName(params: readonly Param[]): ReadonlyMap<string, Param> {
  return new Map(params.map((param) => [param.name, param]));
}

function isSim(name: string): boolean {
  return name.startsWith('SIM_');
}
