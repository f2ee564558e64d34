import type { Family } from './modes.ts';

/** What a vehicle does by itself when something fails, read from its parameters. */

/** What fails. */
export const FAILURES = ['radio', 'station', 'low', 'critical', 'emergency', 'estimator', 'fence'] as const;
export type Failure = (typeof FAILURES)[number];

/** A value that has a part in it, such as the voltage below which the battery is low. */
interface Condition {
  readonly param: string;
  readonly unit: 's' | 'V' | 'mAh' | '%' | 'µs' | 'm';
  /** What the parameter's value is multiplied with. */
  readonly scale?: number;
}

interface Rule {
  readonly failure: Failure;
  /** The parameters that may say what is done: the first that the vehicle has. */
  readonly action: readonly string[];
  /** The value of `action` that does nothing; absent: none. */
  readonly nothing?: number;
  /** Another parameter that switches it off with 0. */
  readonly enabled?: string;
  readonly after: readonly Condition[];
}

/** https://ardupilot.org/copter/docs/failsafe-landing-page.html; names of 4.5 to 4.7. */
const COPTER: readonly Rule[] = [
  { failure: 'radio', action: ['FS_THR_ENABLE'], nothing: 0, after: [{ param: 'RC_FS_TIMEOUT', unit: 's' }] },
  {
    failure: 'station',
    action: ['FS_GCS_ENABLE'],
    nothing: 0,
    after: [{ param: 'FS_GCS_TIMEOUT', unit: 's' }],
  },
  ...batteryOfArduPilot(),
  { failure: 'estimator', action: ['FS_EKF_ACTION'], after: [] },
  { failure: 'fence', action: ['FENCE_ACTION'], enabled: 'FENCE_ENABLE', after: [] },
];
/** https://ardupilot.org/plane/docs/apms-failsafe-function.html */
const PLANE: readonly Rule[] = [
  { failure: 'radio', action: ['FS_LONG_ACTN'], after: [{ param: 'FS_LONG_TIMEOUT', unit: 's' }] },
  {
    failure: 'station',
    action: ['FS_GCS_ENABL'],
    nothing: 0,
    after: [{ param: 'FS_LONG_TIMEOUT', unit: 's' }],
  },
  ...batteryOfArduPilot(),
  { failure: 'fence', action: ['FENCE_ACTION'], enabled: 'FENCE_ENABLE', after: [] },
];
/** https://ardupilot.org/rover/docs/rover-failsafes.html */
const ROVER: readonly Rule[] = [
  {
    failure: 'radio',
    action: ['FS_ACTION'],
    nothing: 0,
    enabled: 'FS_THR_ENABLE',
    after: [{ param: 'FS_TIMEOUT', unit: 's' }],
  },
  {
    failure: 'station',
    action: ['FS_ACTION'],
    nothing: 0,
    enabled: 'FS_GCS_ENABLE',
    after: [{ param: 'FS_GCS_TIMEOUT', unit: 's' }],
  },
  ...batteryOfArduPilot(),
  { failure: 'estimator', action: ['FS_EKF_ACTION'], nothing: 0, after: [] },
  { failure: 'fence', action: ['FENCE_ACTION'], enabled: 'FENCE_ENABLE', after: [] },
];
/** https://www.ardusub.com/operators-manual/failsafes.html */
const SUB: readonly Rule[] = [
  {
    failure: 'station',
    action: ['FS_GCS_ENABLE'],
    nothing: 0,
    after: [{ param: 'FS_GCS_TIMEOUT', unit: 's' }],
  },
  ...batteryOfArduPilot(),
  { failure: 'estimator', action: ['FS_EKF_ACTION'], nothing: 0, after: [] },
];
/** https://docs.px4.io/main/en/config/safety.html */
const PX4: readonly Rule[] = [
  { failure: 'radio', action: ['NAV_RCL_ACT'], nothing: 0, after: [{ param: 'COM_RC_LOSS_T', unit: 's' }] },
  { failure: 'station', action: ['NAV_DLL_ACT'], nothing: 0, after: [{ param: 'COM_DL_LOSS_T', unit: 's' }] },
  { failure: 'low', action: ['COM_LOW_BAT_ACT'], after: [{ param: 'BAT_LOW_THR', unit: '%', scale: 100 }] },
  {
    failure: 'critical',
    action: ['COM_LOW_BAT_ACT'],
    after: [{ param: 'BAT_CRIT_THR', unit: '%', scale: 100 }],
  },
  {
    failure: 'emergency',
    action: ['COM_LOW_BAT_ACT'],
    after: [{ param: 'BAT_EMERGEN_THR', unit: '%', scale: 100 }],
  },
  {
    failure: 'fence',
    action: ['GF_ACTION'],
    nothing: 0,
    after: [
      { param: 'GF_MAX_HOR_DIST', unit: 'm' },
      { param: 'GF_MAX_VER_DIST', unit: 'm' },
    ],
  },
];

const RULES: Readonly<Record<Family, readonly Rule[]>> = {
  copter: COPTER,
  plane: PLANE,
  rover: ROVER,
  sub: SUB,
  px4: PX4,
};

function batteryOfArduPilot(): readonly Rule[] {
  return [
    {
      failure: 'low',
      action: ['BATT_FS_LOW_ACT'],
      nothing: 0,
      after: [
        { param: 'BATT_LOW_VOLT', unit: 'V' },
        { param: 'BATT_LOW_MAH', unit: 'mAh' },
      ],
    },
    {
      failure: 'critical',
      action: ['BATT_FS_CRT_ACT'],
      nothing: 0,
      after: [
        { param: 'BATT_CRT_VOLT', unit: 'V' },
        { param: 'BATT_CRT_MAH', unit: 'mAh' },
      ],
    },
  ];
}

/** One failsafe of this vehicle. */
export interface Failsafe {
  readonly failure: Failure;
  /** The parameter that says what is done, and its value. */
  readonly param: string;
  readonly value: number;
  /** Nothing is done. */
  readonly off: boolean;
  /** Those that are set; a value of 0 is none. */
  readonly after: readonly {
    readonly param: string;
    readonly value: number;
    readonly unit: Condition['unit'];
  }[];
}

/**
 * @param value of a parameter; null: the vehicle has none of this name, or it is not known yet
 * @returns those whose parameters are known, in the order of `FAILURES`
 */
export function failsafesOf(family: Family, value: (name: string) => number | null): readonly Failsafe[] {
  return RULES[family].flatMap(({ failure, action, nothing, enabled, after }) => {
    const param = action.find((name) => value(name) !== null);
    const set = param === undefined ? null : value(param);
    if (param === undefined || set === null) return [];
    const conditions = after.flatMap(({ param: name, unit, scale = 1 }) => {
      const known = value(name);
      return known === null || known <= 0 ? [] : [{ param: name, value: known * scale, unit }];
    });
    // A battery that has no limit is never low.
    const never =
      (failure === 'low' || failure === 'critical') && after.length > 0 && conditions.length === 0;
    const off = set === nothing || never || (enabled !== undefined && value(enabled) === 0);
    return [{ failure, param, value: set, off, after: conditions }];
  });
}
