import type { PeripheralManifest } from '../../../shared/schemas/peripherals.ts';

/** USB ids of flight controllers: the firmware's own, and those of makers who have one. */
const FLIGHT_CONTROLLERS = [
  { vid: '1209', pid: '5740' }, // ArduPilot
  { vid: '1209', pid: '5741' }, // ArduPilot with a second port
  // 3D Robotics, which older boards with PX4 use; its other products are sensors.
  ...['0010', '0011', '0012', '0013', '0021', '0030', '0032'].map((pid) => ({ vid: '26ac', pid })),
  { vid: '2dae' }, // CubePilot
  { vid: '3162' }, // Holybro
  { vid: '3163' }, // CUAV
  { vid: '3185' }, // Auterion: boards of the Pixhawk standard
  { vid: '0483', pid: '5740' }, // STM32 with its maker's id: Betaflight, INAV, older boards
] as const;

/** What this version knows of, without a file of the operator. Nothing here has settings that nobody would read. */
export const SHIPPED: readonly PeripheralManifest[] = [
  {
    id: 'flight-controller-usb',
    display_name: 'Flight controller over USB',
    match: FLIGHT_CONTROLLERS.map((ids) => ({ kind: 'serial', ...ids })),
    capabilities: ['mavlink'],
    actions: [
      {
        id: 'use-as-flight-controller',
        display_name: 'Use it as the flight controller (mavlink.source)',
        does: 'use_as_flight_controller',
        baud: 115_200,
        requires_confirm: true,
      },
    ],
  },
  {
    id: 'ublox-gps',
    display_name: 'u-blox GPS receiver',
    match: [{ kind: 'serial', vid: '1546' }],
    capabilities: ['gps', 'nmea'],
  },
  {
    id: 'rtl8812',
    display_name: 'RTL8812AU/EU radio',
    match: [
      { kind: 'usb', vid: '0bda', pid: '8812' },
      { kind: 'usb', vid: '0bda', pid: 'a81a' },
    ],
    capabilities: ['wifi', 'monitor-mode'],
  },
  {
    id: 'uvc-camera',
    display_name: 'USB camera (UVC)',
    match: [{ kind: 'camera', driver: 'uvcvideo' }],
    capabilities: ['video'],
    actions: [
      {
        id: 'restart-video',
        display_name: 'Restart svc-video',
        does: 'restart_service',
        service: 'svc-video',
        requires_confirm: true,
      },
    ],
  },
];
