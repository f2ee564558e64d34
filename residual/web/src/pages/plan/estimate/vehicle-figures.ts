/** What the vehicle's own parameters say of how it flies missions. Null: it does not say. */

export interface VehicleFigures {
  /** m/s */
  readonly speed: number | null;
  readonly climb: number | null;
  readonly descent: number | null;
  /** m above home: how high it returns. */
  readonly returnHeight: number | null;
  /** mAh */
  readonly capacity: number | null;
  /** m above home and from home that its fence lets it; null also where the fence is off. */
  readonly fenceHeight: number | null;
  readonly fenceRadius: number | null;
  /** Whether it knows the terrain; null: it does not say. */
  readonly knowsTerrain: boolean | null;
}

type Params = Readonly<Record<string, number>>;
/** A parameter, and what makes its number the unit that is wanted. */
type Source = readonly [name: string, factor: number];

// ArduCopter before 4.7 and from it on, ArduPlane, ArduPilot's rovers, PX4.
const SPEED: readonly Source[] = [
  ['WPNAV_SPEED', 0.01],
  ['WP_SPD', 1],
  ['AIRSPEED_CRUISE', 1],
  ['TRIM_ARSPD_CM', 0.01],
  ['WP_SPEED', 1],
  ['CRUISE_SPEED', 1],
  ['MPC_XY_CRUISE', 1],
  ['FW_AIRSPD_TRIM', 1],
];
const CLIMB: readonly Source[] = [
  ['WPNAV_SPEED_UP', 0.01],
  ['WP_SPD_UP', 1],
  ['TECS_CLMB_MAX', 1],
  ['MPC_Z_V_AUTO_UP', 1],
  ['FW_T_CLMB_R_SP', 1],
];
const DESCENT: readonly Source[] = [
  ['WPNAV_SPEED_DN', 0.01],
  ['WP_SPD_DN', 1],
  ['TECS_SINK_MAX', 1],
  ['MPC_Z_V_AUTO_DN', 1],
  ['FW_T_SINK_R_SP', 1],
];
const RETURN_HEIGHT: readonly Source[] = [
  ['RTL_ALT', 0.01],
  ['RTL_ALT_M', 1],
  ['RTL_ALTITUDE', 1],
  ['ALT_HOLD_RTL', 0.01],
  ['RTL_RETURN_ALT', 1],
];
const CAPACITY: readonly Source[] = [
  ['BATT_CAPACITY', 1],
  ['BAT1_CAPACITY', 1],
];

/** FENCE_TYPE of ArduPilot */
const FENCE_TYPE = { height: 1, circle: 2 } as const;

export function figuresOf(params: Params): VehicleFigures {
  const first = (sources: readonly Source[]): number | null => {
    for (const [name, factor] of sources) {
      const value = params[name];
      if (value !== undefined && value > 0) return value * factor;
    }
    return null;
  };
  const type = params['FENCE_TYPE'] ?? 0;
  const isOn = (bit: number): boolean => params['FENCE_ENABLE'] === 1 && (type & bit) > 0;
  return {
    speed: first(SPEED),
    climb: first(CLIMB),
    descent: first(DESCENT),
    returnHeight: first(RETURN_HEIGHT),
    capacity: first(CAPACITY),
    fenceHeight: isOn(FENCE_TYPE.height) ? first([['FENCE_ALT_MAX', 1]]) : first([['GF_MAX_VER_DIST', 1]]),
    fenceRadius: isOn(FENCE_TYPE.circle) ? first([['FENCE_RADIUS', 1]]) : first([['GF_MAX_HOR_DIST', 1]]),
    knowsTerrain: params['TERRAIN_ENABLE'] === undefined ? null : params['TERRAIN_ENABLE'] > 0,
  };
}

export const UNKNOWN_FIGURES = figuresOf({});
