import {
  BatteryMedium,
  Compass,
  Eye,
  Gauge,
  type IconNode,
  MoveVertical,
  Orbit,
  RadioReceiver,
  Rotate3d,
  Ruler,
  Satellite,
  Save,
  Shield,
  Wind,
} from 'lucide';
import { keysOf } from '../../../../../../shared/member.ts';

/** MAV_SYS_STATUS_SENSOR (mavlink.io, common.xml), as far as a person knows the part; two of one kind are one here. */
const SENSORS = {
  gyro: { bits: [0, 17], icon: Rotate3d },
  accelerometer: { bits: [1, 18], icon: MoveVertical },
  compass: { bits: [2, 19], icon: Compass },
  barometer: { bits: [3], icon: Gauge },
  airspeed: { bits: [4], icon: Wind },
  gps: { bits: [5], icon: Satellite },
  flow: { bits: [6], icon: Eye },
  range: { bits: [8], icon: Ruler },
  receiver: { bits: [16], icon: RadioReceiver },
  ahrs: { bits: [21], icon: Orbit },
  logging: { bits: [24], icon: Save },
  battery: { bits: [25], icon: BatteryMedium },
  proximity: { bits: [26], icon: Shield },
} as const satisfies Record<string, { readonly bits: readonly number[]; readonly icon: IconNode }>;

type SensorId = keyof typeof SENSORS;

export interface Sensor {
  readonly id: SensorId;
  readonly icon: IconNode;
  /** `off`: it is there and not used. */
  readonly state: 'good' | 'bad' | 'off';
}

/** What the vehicle has, by the newest SYS_STATUS: what it does not have is not in the list. */
export function sensorsOf(present: number, enabled: number, healthy: number): readonly Sensor[] {
  const ids = keysOf(SENSORS).map((id) => ({ id, ...SENSORS[id] }));
  return ids.flatMap(({ id, bits, icon }) => {
    const there = bits.filter((bit: number) => has(present, bit));
    if (there.length === 0) return [];
    const used = there.filter((bit) => has(enabled, bit));
    const state = used.length === 0 ? 'off' : used.every((bit) => has(healthy, bit)) ? 'good' : 'bad';
    return [{ id, icon, state }];
  });
}

function has(bits: number, bit: number): boolean {
  return ((bits >>> bit) & 1) === 1;
}
