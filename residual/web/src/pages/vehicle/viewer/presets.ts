import { Activity, BatteryMedium, type IconNode, Rotate3d, Satellite } from 'lucide';
import type { FieldId, LogSummary } from './read/summary.ts';

/** Plots that answer the usual questions, whatever the kind of the log. */

export const PRESETS = ['battery', 'vibration', 'attitude', 'gps'] as const;
export type PresetId = (typeof PRESETS)[number];

export const PRESET_ICONS: Readonly<Record<PresetId, IconNode>> = {
  battery: BatteryMedium,
  vibration: Activity,
  attitude: Rotate3d,
  gps: Satellite,
};

interface Source {
  readonly group: RegExp;
  /** The fields of each plot. */
  readonly plots: readonly (readonly string[])[];
}

/**
 * Of ArduPilot's dataflash (LogStructure.h of AP_BattMonitor, AP_InertialSensor, AP_AHRS and AP_GPS; CURR until 3.6), PX4's ULog topics
 * (msg/BatteryStatus.msg, VehicleImuStatus.msg, VehicleAttitude.msg, SensorGps.msg) and MAVLink's messages: the first that the log has.
 */
const SOURCES: Readonly<Record<PresetId, readonly Source[]>> = {
  battery: [
    { group: /^BAT(?:\[0\])?$/, plots: [['Volt'], ['Curr']] },
    { group: /^CURR$/, plots: [['Volt'], ['Curr']] },
    { group: /^battery_status(?:\[0\])?$/, plots: [['voltage_v'], ['current_a']] },
    { group: /^SYS_STATUS /, plots: [['voltage_battery'], ['current_battery']] },
  ],
  vibration: [
    { group: /^VIBE(?:\[0\])?$/, plots: [['VibeX', 'VibeY', 'VibeZ'], ['Clip']] },
    { group: /^vehicle_imu_status(?:\[0\])?$/, plots: [['accel_vibration_metric', 'gyro_vibration_metric']] },
    { group: /^VIBRATION /, plots: [['vibration_x', 'vibration_y', 'vibration_z']] },
  ],
  attitude: [
    {
      group: /^ATT$/,
      plots: [
        ['DesRoll', 'Roll'],
        ['DesPitch', 'Pitch'],
      ],
    },
    { group: /^vehicle_attitude$/, plots: [['q[0]', 'q[1]', 'q[2]', 'q[3]']] },
    { group: /^ATTITUDE /, plots: [['roll', 'pitch'], ['yaw']] },
  ],
  gps: [
    { group: /^GPS(?:\[0\])?$/, plots: [['NSats'], ['HDop']] },
    { group: /^(?:sensor_gps|vehicle_gps_position)(?:\[0\])?$/, plots: [['satellites_used'], ['hdop']] },
    { group: /^GPS_RAW_INT /, plots: [['satellites_visible'], ['eph']] },
  ],
};

/** The plots of a preset; null: the log has nothing for it. */
export function plotsOf(id: PresetId, groups: LogSummary['groups']): readonly (readonly FieldId[])[] | null {
  for (const { group, plots } of SOURCES[id])
    for (const [at, { name, rows, fields }] of groups.entries()) {
      if (!group.test(name) || rows === 0) continue;
      const found = plots
        .map((names) =>
          names.flatMap((wanted) => {
            const field = fields.findIndex((each) => each.name === wanted && !each.isText);
            return field === -1 ? [] : [{ group: at, field }];
          }),
        )
        .filter((plot) => plot.length > 0);
      if (found.length > 0) return found;
    }
  return null;
}

/** SYS_STATUS.voltage_battery that is not measured. */
const UNKNOWN_MV = 65_535;

/** Where a voltage was lowest between two times. Zero and "not measured" are no voltages. */
export function lowest(
  times: ArrayLike<number>,
  values: ArrayLike<number>,
  [from, to]: readonly [number, number],
): { readonly at: number; readonly value: number } | null {
  let found: { at: number; value: number } | null = null;
  for (let row = 0; row < values.length; row++) {
    const [at, value] = [times[row] ?? 0, values[row] ?? 0];
    if (
      at >= from &&
      at <= to &&
      value > 0 &&
      value !== UNKNOWN_MV &&
      (found === null || value < found.value)
    )
      found = { at, value };
  }
  return found;
}

const VOLTAGE = /^(?:Volt|voltage_v|voltage_battery)$/;

export function isVoltage(field: string): boolean {
  return VOLTAGE.test(field);
}
