import { RESIDUAL, section } from './leaf.ts';

const OWN = {
  'x-class': 'keyonly',
  'x-reason': 'decides who receives what was filmed and flown, and what is deleted here afterwards',
  ...RESIDUAL,
} as const;

/** The section `upload`: recordings, telemetry logs and flight logs, to a store that speaks S3. */
export const uploadConfig = section({
  endpoint: {
    type: 'string',
    format: 'web-origin-or-empty',
    maxLength: 300,
    default: '',
    description: 'address of the store, https://s3.example; empty: nothing is uploaded',
    'x-sends': ['upload.access_key_id', 'upload.secret_access_key'],
    ...OWN,
  },
  bucket: {
    type: 'string',
    pattern: '^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$',
    default: '',
    description: 'bucket of the store',
    ...OWN,
  },
  region: {
    type: 'string',
    pattern: '^[a-z0-9-]{1,64}$',
    default: 'us-east-1',
    description: 'region that requests are signed for',
    ...OWN,
  },
  prefix: {
    type: 'string',
    pattern: '^([A-Za-z0-9._-]+/)*$',
    maxLength: 200,
    default: '',
    description: 'before the key of each object, with / at its end',
    ...OWN,
  },
  access_key_id: {
    type: 'string',
    pattern: '^[\\x21-\\x7e]*$',
    maxLength: 200,
    default: '',
    description: 'id of the access key',
    ...OWN,
  },
  secret_access_key: {
    type: 'string',
    pattern: '^[\\x21-\\x7e]*$',
    maxLength: 200,
    default: '',
    description: 'the access key itself',
    'x-secret': true,
    ...OWN,
  },
  kinds: {
    type: 'array',
    items: { enum: ['recordings', 'tlogs', 'flight-logs'] },
    uniqueItems: true,
    maxItems: 3,
    default: ['recordings', 'tlogs', 'flight-logs'],
    description: 'what is uploaded',
    ...OWN,
  },
  while_armed: {
    type: 'boolean',
    default: false,
    description: 'whether uploads go on while the vehicle is armed',
    ...OWN,
  },
  on_metered: {
    type: 'boolean',
    default: false,
    description: 'whether uploads also use an uplink that is paid by volume',
    ...OWN,
  },
  max_kbit_s: {
    type: 'integer',
    minimum: 0,
    maximum: 1_000_000,
    default: 0,
    description: 'the most that uploads may take of the uplink, kbit/s; 0: all of it',
    ...OWN,
  },
  keep_days: {
    type: 'integer',
    minimum: 0,
    maximum: 3650,
    default: 0,
    description: 'days after which a file that was uploaded is deleted here; 0: never',
    ...OWN,
  },
});
