import { LINK, section } from './leaf.ts';

const DESTINATION = {
  'x-class': 'keyonly',
  'x-reason': 'decides who receives the login and the place of the vehicle, and whether others can read them',
  ...LINK,
} as const;

/** The section `rtk`: corrections, which make the position of the vehicle exact to centimetres. */
export const rtkConfig = section('Corrections (RTK)', 'flight', {
  source: {
    title: 'Source of corrections',
    type: 'string',
    format: 'rtk-source',
    maxLength: 128,
    default: 'off',
    description:
      'where corrections (RTCM 3) come from: off, ntrip, serial:/dev/ttyUSB0:115200 or tcp:host:port (a base station)',
    ...LINK,
  },
  ntrip: section('NTRIP caster', null, {
    host: {
      title: 'Caster',
      type: 'string',
      format: 'host-or-empty',
      maxLength: 253,
      default: '',
      description: 'the NTRIP caster: its name or address',
      'x-sends': ['rtk.ntrip.username', 'rtk.ntrip.password'],
      ...DESTINATION,
    },
    port: {
      title: 'Port of the caster',
      type: 'integer',
      minimum: 1,
      maximum: 65_535,
      default: 2101,
      description: 'TCP port of the caster',
      ...DESTINATION,
    },
    tls: {
      title: 'TLS to the caster',
      type: 'boolean',
      default: false,
      description: 'whether the caster is reached by TLS, with a certificate that this machine trusts',
      ...DESTINATION,
    },
    mountpoint: {
      title: 'Stream (mountpoint)',
      type: 'string',
      pattern: '^[A-Za-z0-9._~+@:-]*$',
      maxLength: 100,
      default: '',
      description: 'the stream that is wanted',
      ...LINK,
    },
    username: {
      title: 'User name',
      type: 'string',
      pattern: '^[^:\\u0000-\\u001f\\u007f]*$',
      maxLength: 128,
      default: '',
      description: 'user name at the caster; empty: no login',
      ...LINK,
    },
    password: {
      title: 'Password',
      type: 'string',
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      maxLength: 128,
      default: '',
      description: 'password at the caster',
      'x-secret': true,
      ...LINK,
    },
    version: {
      title: 'Version of NTRIP',
      enum: ['auto', 1, 2],
      'x-words': ['Automatic', '1', '2'],
      default: 'auto',
      description: 'version of NTRIP; auto: 2, and 1 where the caster does not answer to that',
      ...LINK,
    },
    send_position: {
      title: 'Tell the position',
      type: 'boolean',
      default: false,
      description: 'whether the caster is told where the vehicle is, which a virtual station needs',
      ...LINK,
    },
  }),
});
