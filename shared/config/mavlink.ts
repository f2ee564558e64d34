import { GUARDED, LINK, section } from './leaf.ts';

const CLASS = {
  'x-class': 'keyonly',
  'x-reason': 'decides which aircraft is flown, and who can fly it without a credential',
} as const;

/** The section `mavlink`: the flight controller, and the ground stations that reach it. */
export const mavlinkConfig = section('MAVLink', 'flight', {
  source: {
    title: 'Connection to the flight controller',
    type: 'string',
    format: 'mavlink-source',
    maxLength: 128,
    default: 'auto',
    description:
      'where the flight controller is: auto (a ground station: the vehicle on the radio), serial:/dev/ttyACM0:921600, udp:0.0.0.0:14550, udpout:host:port, tcp:host:port or sim',
    ...CLASS,
    ...GUARDED,
    'x-restart': ['svc-link', 'svc-residual'], // which keeps the port from extensions
  },
  system: {
    title: 'System ID of the vehicle',
    type: ['string', 'integer'],
    pattern: '^auto$',
    minimum: 1,
    maximum: 255,
    default: 'auto',
    description:
      'the MAVLink system id of the vehicle; auto: the first autopilot that is heard, and from then on that one, over restarts',
    ...CLASS,
    ...GUARDED,
    ...LINK,
  },
  endpoints: {
    title: 'Endpoints for ground stations',
    type: 'array',
    maxItems: 8,
    uniqueItems: true,
    items: { type: 'string', format: 'mavlink-endpoint', maxLength: 128 },
    default: ['udp:127.0.0.1:14550', 'tcp:127.0.0.1:5790'],
    description:
      'where ground stations reach the vehicle: udp:host:port (they send first), udpout:host:port, tcp:host:port; ?force=1 turns the armed guard off, ?client_id=name applies the pilot in command',
    ...CLASS,
    ...GUARDED,
    ...LINK,
  },
  heartbeat: {
    title: 'Own heartbeat',
    type: 'string',
    enum: ['auto', 'on', 'off'],
    'x-words': ['Automatic', 'On', 'Off'],
    default: 'auto',
    description:
      'whether ground stations get the node’s own heartbeat (component 191) beside the vehicle’s; auto: only where the node is a camera there, as a program may take the first heartbeat for the vehicle’s',
    ...CLASS,
    ...LINK,
  },
  serial_control: {
    title: 'SERIAL_CONTROL from ground stations',
    type: 'boolean',
    default: false,
    description: 'whether ground stations may send SERIAL_CONTROL',
    ...CLASS,
    ...LINK,
  },
  sign_endpoints: {
    title: 'Sign for ground stations',
    type: 'boolean',
    default: true,
    description:
      'if the vehicle accepts only signed frames: sign the frames of ground stations (on), or refuse them',
    ...CLASS,
    ...LINK,
  },
});
