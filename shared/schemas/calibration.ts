import {
  CALIBRATION_RESULTS,
  CALIBRATION_SENSORS,
  CALIBRATION_STEPS,
  MAX_STEPS,
  POSES,
} from '../flight/calibration.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Made } from './made.ts';

/** The bodies of /api/calibration (docs/contract/flight.md#calibration). */

const time = { type: ['string', 'null'], format: 'date-time' } as const;

export const calibrationState = {
  title: 'CalibrationState',
  type: 'object',
  required: [
    'running',
    'sensor',
    'step',
    'poses',
    'confirm',
    'text',
    'percent',
    'result',
    'steps',
    'started_at',
    'ended_at',
    'reboot_required',
  ],
  properties: {
    running: { type: 'boolean' },
    sensor: { enum: [...CALIBRATION_SENSORS, null], description: 'null: none since the link started' },
    step: { enum: [...CALIBRATION_STEPS, null] },
    poses: { type: 'array', items: { enum: POSES }, description: 'those that the vehicle takes next' },
    confirm: { type: 'boolean', description: 'it has to be told that it lies as it asked' },
    text: { type: ['string', 'null'], description: 'the newest words' },
    percent: { type: ['number', 'null'], description: 'null where the vehicle reports none' },
    result: { enum: [...CALIBRATION_RESULTS, null] },
    steps: { type: 'array', maxItems: MAX_STEPS, items: { type: 'string' } },
    started_at: time,
    ended_at: time,
    reboot_required: { type: 'boolean', description: 'the vehicle does not arm until it is rebooted' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The calibration that runs, else the newest one since svc-link started. */
export type CalibrationState = Made<typeof calibrationState>;

export const calibrationRequest = {
  title: 'CalibrationRequest',
  type: 'object',
  required: ['sensor'],
  properties: {
    sensor: { enum: CALIBRATION_SENSORS },
    confirm: {
      enum: POSES,
      description: 'begins nothing: the vehicle lies in the pose that it asked for (accelerometer)',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
