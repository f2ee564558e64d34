/** What the flight recorder writes once a second, and what can be asked for over time. */
export const METRICS = [
  'battery.voltage',
  'battery.current',
  'battery.remaining',
  'gps.satellites',
  'position.alt_rel',
  'velocity.groundspeed',
  'link.rx_lost',
  'link.rx_bad_crc',
  'rc.rssi',
  'node.load',
  'node.memory_mb',
] as const;

export type Metric = (typeof METRICS)[number];
