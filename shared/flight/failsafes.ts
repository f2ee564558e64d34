import type { Family } from './modes.ts';

/** What a vehicle does by itself when something fails, read from its parameters. */

/** What fails. */
export const FAILURES = ['radio', 'station', 'low', 'critical', 'estimator', 'fence'] as const;
export type Failure = (typeof FAILURES)[number];

/** A value that has a part in it, such as the voltage below which the battery is low. */
interface Condition {
  readonly param: string;
  /** A parameter whose value is added. */
  readonly plus?: string;
  readonly unit: 's' | 'V' | 'mAh' | '%' | 'm';
}

interface Rule {
  readonly failure: Failure;
  /** The parameter that says what is done. */
  readonly action: string;
  /** The value of `action` that does nothing; absent: none. */
  readonly nothing?: number;
  /** Another parameter that switches it off with 0. */
  readonly enabled?: string;
  readonly after: readonly Condition[];
}

const s = (param: string, plus?: string): Condition =>
  plus === undefined ? { param, unit: 's' } : { param, plus, unit: 's' };

const BATTERY: readonly Rule[] = (['low', 'critical'] as const).map((failure) => {
  const name = failure === 'low' ? 'LOW' : 'CRT';
  return {
    failure,
    action: `BATT_FS_${name}_ACT`,
    nothing: 0,
    after: [
      { param: `BATT_${name}_VOLT`, unit: 'V' },
      { param: `BATT_${name}_MAH`, unit: 'mAh' },
    ],
  };
});
const FENCE: Rule = { failure: 'fence', action: 'FENCE_ACTION', enabled: 'FENCE_ENABLE', after: [] };

const RULES: Readonly<Record<Family, readonly Rule[]>> = {
  /** https://ardupilot.org/copter/docs/failsafe-landing-page.html */
  copter: [
    { failure: 'radio', action: 'FS_THR_ENABLE', nothing: 0, after: [s('RC_FS_TIMEOUT')] },
    { failure: 'station', action: 'FS_GCS_ENABLE', nothing: 0, after: [s('FS_GCS_TIMEOUT')] },
    ...BATTERY,
    { failure: 'estimator', action: 'FS_EKF_ACTION', after: [] },
    FENCE,
  ],
  /** The long failsafe, which the short one comes before: https://ardupilot.org/plane/docs/apms-failsafe-function.html */
  plane: [
    { failure: 'radio', action: 'FS_LONG_ACTN', enabled: 'THR_FAILSAFE', after: [s('FS_LONG_TIMEOUT')] },
    { failure: 'station', action: 'FS_LONG_ACTN', enabled: 'FS_GCS_ENABL', after: [s('FS_LONG_TIMEOUT')] },
    ...BATTERY,
    FENCE,
  ],
  /** https://ardupilot.org/rover/docs/rover-failsafes.html */
  rover: [
    { failure: 'radio', action: 'FS_ACTION', nothing: 0, enabled: 'FS_THR_ENABLE', after: [s('FS_TIMEOUT')] },
    {
      failure: 'station',
      action: 'FS_ACTION',
      nothing: 0,
      enabled: 'FS_GCS_ENABLE',
      after: [s('FS_GCS_TIMEOUT')],
    },
    ...BATTERY,
    { failure: 'estimator', action: 'FS_EKF_ACTION', nothing: 0, after: [] },
    FENCE,
  ],
  /** https://ardupilot.org/sub/docs/failsafes.html */
  sub: [
    { failure: 'station', action: 'FS_GCS_ENABLE', nothing: 0, after: [s('FS_GCS_TIMEOUT')] },
    ...BATTERY,
    { failure: 'estimator', action: 'FS_EKF_ACTION', nothing: 0, after: [] },
  ],
  /**
   * https://docs.px4.io/main/en/config/safety.html: it holds for COM_FAIL_ACT_T first. Of a battery that is low it only warns; its one
   * action has both later levels in its words.
   */
  px4: [
    { failure: 'radio', action: 'NAV_RCL_ACT', nothing: 0, after: [s('COM_RC_LOSS_T', 'COM_FAIL_ACT_T')] },
    { failure: 'station', action: 'NAV_DLL_ACT', nothing: 0, after: [s('COM_DL_LOSS_T', 'COM_FAIL_ACT_T')] },
    {
      failure: 'critical',
      action: 'COM_LOW_BAT_ACT',
      after: [
        { param: 'BAT_CRIT_THR', unit: '%' },
        { param: 'BAT_EMERGEN_THR', unit: '%' },
      ],
    },
    {
      failure: 'fence',
      action: 'GF_ACTION',
      nothing: 0,
      after: [
        { param: 'GF_MAX_HOR_DIST', unit: 'm' },
        { param: 'GF_MAX_VER_DIST', unit: 'm' },
      ],
    },
  ],
};

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
    const set = value(action);
    if (set === null) return [];
    const conditions = after.flatMap(({ param, plus, unit }) => {
      const known = value(param);
      if (known === null || known <= 0) return [];
      const sum = known + (plus === undefined ? 0 : (value(plus) ?? 0));
      return [{ param, value: unit === '%' ? sum * 100 : sum, unit }]; // PX4's are shares
    });
    // A battery that has no limit is never low.
    const never = (failure === 'low' || failure === 'critical') && conditions.length === 0;
    const off = set === nothing || never || (enabled !== undefined && value(enabled) === 0);
    return [{ failure, param: action, value: set, off, after: conditions }];
  });
}
