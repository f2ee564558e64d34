/** Topics of PX4 that a flight report needs: type and name of each field after the timestamp. */
const TOPICS: Readonly<Record<string, string>> = {
  vehicle_status: 'uint8_t arming_state;uint8_t nav_state;bool failsafe;uint8_t vehicle_type',
  failsafe_flags: 'bool manual_control_signal_lost;bool gcs_connection_lost',
  failure_detector_status:
    'bool fd_motor;bool fd_arm_escs;bool fd_imbalanced_prop;bool fd_roll;bool fd_pitch',
  system_power: 'float voltage5v_v',
  vehicle_attitude: 'float[4] q',
  vehicle_attitude_setpoint: 'float[4] q_d',
  vehicle_magnetometer: 'float[3] magnetometer_ga',
  sensor_combined: 'float[3] accelerometer_m_s2',
  actuator_motors: 'float[12] control',
  esc_status: 'uint8_t esc_count;esc_report[4] esc',
  estimator_selector_status: 'uint8_t primary_instance',
  vehicle_land_detected: 'bool landed',
  vehicle_local_position: 'float vx;float vy',
  vehicle_global_position: 'double lat;double lon;float alt',
  vehicle_gps_position:
    'uint64_t time_utc_usec;double latitude_deg;double longitude_deg;float hdop;float vel_m_s;uint8_t fix_type;uint8_t satellites_used',
  battery_status:
    'float voltage_v;float current_a;float discharged_mah;uint8_t warning;uint8_t[3] _padding0;float[4] voltage_cell_v',
  vehicle_imu_status: 'uint32_t[3] accel_clipping;float accel_vibration_metric',
  estimator_status:
    'float hdg_test_ratio;float vel_test_ratio;float pos_test_ratio;float hgt_test_ratio;uint16_t solution_status_flags',
};

const SIZES: Readonly<Record<string, number>> = {
  bool: 1,
  uint8_t: 1,
  uint16_t: 2,
  uint32_t: 4,
  uint64_t: 8,
  float: 4,
  esc_report: 4,
  double: 8,
};

/** Writes a log as PX4 does. */
export class UlogWriter {
  readonly #parts: Buffer[] = [];

  /** @param start as its header says, s */
  constructor(start = 0) {
    this.#parts.push(Buffer.from([0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35, 1]), u64(start * 1e6));
    this.message('B', Buffer.alloc(40));
    this.message('I', keyed('char[3] sys_name', Buffer.from('PX4')));
    this.message('I', keyed('uint32_t ver_sw_release', Buffer.of(255, 2, 15, 1)));
    this.message('F', Buffer.from('esc_report:float esc_rpm;'));
    for (const [topic, fields] of Object.entries(TOPICS))
      this.message('F', Buffer.from(`${topic}:uint64_t timestamp;${fields};`));
    for (const [id, topic] of Object.keys(TOPICS).entries())
      this.message('A', Buffer.concat([Buffer.of(0), u16(id), Buffer.from(topic)]));
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  message(type: string, body: Buffer): void {
    this.#parts.push(u16(body.length), Buffer.from(type), body);
  }

  param(name: string, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatLE(value);
    this.message('P', keyed(`float ${name}`, bytes));
  }

  /** @param level '0' emergency to '7' debug */
  text(at: number, level: string, words: string): void {
    this.message('L', Buffer.concat([Buffer.from(level), u64(at * 1e6), Buffer.from(words)]));
  }

  /** @param at s. @param row by field; what is missing is 0 */
  data(topic: string, at: number, row: Readonly<Record<string, number | readonly number[]>>): void {
    const parts = (TOPICS[topic] ?? '').split(';').map((field) => {
      const [, type = '', count = '1', name = ''] = /^(\w+?)(?:\[(\d+)\])? (\w+)$/.exec(field) ?? [];
      const given = row[name] ?? 0;
      const values = typeof given === 'number' ? Array<number>(Number(count)).fill(given) : given;
      return Buffer.concat(values.map((value) => bytesOf(type, value)));
    });
    const id = u16(Object.keys(TOPICS).indexOf(topic));
    this.message('D', Buffer.concat([id, u64(at * 1e6), ...parts]));
  }
}

function bytesOf(type: string, value: number): Buffer {
  const bytes = Buffer.alloc(SIZES[type] ?? 0);
  if (type === 'float' || type === 'esc_report') bytes.writeFloatLE(value);
  else if (type === 'double') bytes.writeDoubleLE(value);
  else if (type === 'uint64_t') return u64(value);
  else bytes.writeUIntLE(value, 0, bytes.length);
  return bytes;
}

function keyed(key: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.of(key.length), Buffer.from(key), value]);
}

function u16(value: number): Buffer {
  return Buffer.of(value & 0xff, value >>> 8);
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(Math.round(value)));
  return bytes;
}
