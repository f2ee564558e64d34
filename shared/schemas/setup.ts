import type { JsonSchema } from './json-schema.ts';

/** Bodies and answers of the set-up. */

export const STEP_IDS = [
  'name',
  'profile',
  'pin',
  'fc',
  'camera',
  'radio',
  'network',
  'region',
  'pairing',
  'finish',
] as const;
export type StepId = (typeof STEP_IDS)[number];

export const setupStatus = {
  title: 'SetupStatus',
  type: 'object',
  required: ['steps', 'finished', 'next'],
  properties: {
    steps: {
      type: 'array',
      description: 'in their order',
      items: {
        type: 'object',
        required: ['id', 'state', 'detail'],
        properties: {
          id: { enum: STEP_IDS },
          state: {
            enum: ['complete', 'skipped', 'needs_action', 'optional', 'not_applicable'],
            description: 'not_applicable: this node does not have it',
          },
          detail: { type: 'string', description: 'what the node sees, in words' },
        },
        additionalProperties: false,
      },
    },
    finished: { type: 'boolean', description: 'a person has finished it' },
    next: {
      enum: [...STEP_IDS, null],
      description: 'the first step that is open, optional ones too; null once it is finished',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const stepRequest = {
  title: 'SetupStepRequest',
  examples: [{ action: 'complete' }],
  type: 'object',
  required: ['action'],
  properties: {
    action: {
      enum: ['complete', 'skip', 'undo'],
      description: 'only marks the step; undo removes the mark',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const profileChoice = {
  title: 'SetupProfileRequest',
  examples: [{ profile: 'drone' }, { profile: 'ground-station', role: 'direct' }],
  type: 'object',
  required: ['profile'],
  'x-says': 'has a role, and a drone has none',
  anyOf: [{ properties: { profile: { not: { const: 'drone' } } } }, { properties: { role: false } }],
  properties: {
    profile: { enum: ['drone', 'ground-station', 'ground_station', 'groundstation'] },
    role: { enum: ['direct', 'relay', 'receiver'], description: 'of a ground station' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const profileChosen = {
  title: 'SetupProfileAnswer',
  type: 'object',
  required: ['profile', 'role', 'restart_required'],
  properties: {
    profile: { enum: ['drone', 'ground-station'] },
    role: { enum: ['direct', 'relay', 'receiver', null], description: 'null on a drone' },
    restart_required: {
      type: 'array',
      items: { type: 'string' },
      description: 'the processes that must restart before it takes effect',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
