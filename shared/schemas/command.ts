import type { JsonSchema } from './json-schema.ts';

/** A flight command, its answer, and the list of them. */

const integer = { type: ['integer', 'null'] } as const satisfies JsonSchema;
const text = { type: ['string', 'null'] } as const satisfies JsonSchema;

export const commandRequest = {
  title: 'CommandRequest',
  examples: [{ cmd: 'takeoff', args: [10], wait: true }, { cmd: 'land' }],
  type: 'object',
  required: ['cmd'],
  properties: {
    cmd: { type: 'string', minLength: 1, maxLength: 32, description: 'see GET /api/commands' },
    args: { type: 'array', maxItems: 8, items: { type: ['number', 'string'] } },
    timeout_ms: {
      type: 'integer',
      minimum: 500,
      maximum: 20_000,
      description: "bound on the vehicle's acknowledgement",
    },
    wait: {
      type: 'boolean',
      description:
        'takeoff, goto, land, rtl: answer when it is done, or will not be any more; with Accept: text/event-stream the progress comes as events',
    },
    wait_s: { type: 'integer', minimum: 1, maximum: 600, description: 'the longest wait; 120 unless said' },
    confirm: {
      type: 'string',
      maxLength: 32,
      description: 'motorTest: "PROPS OFF", once the propellers are off',
    },
    allow_far: {
      type: 'boolean',
      description:
        "goto, orbit, and what flies the mission: also further than flight.max_goto_m, outside of the vehicle's fence, or below the ground",
    },
    dry_run: {
      type: 'boolean',
      description:
        'only say whether the node would send it, in status `checked`; the vehicle is asked nothing',
    },
    manual: {
      type: 'boolean',
      description:
        'mode: also one that needs sticks, in the air, though no radio of a pilot is heard: say it only where one holds it',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const commandAnswer = {
  title: 'CommandAnswer',
  type: 'object',
  required: ['status', 'cmd', 'ack'],
  properties: {
    status: {
      enum: ['accepted', 'rejected', 'unconfirmed', 'no_ack', 'checked'],
      description:
        'unconfirmed: acknowledged, but the vehicle does not show it (PX4); checked: with dry_run, nothing was sent',
    },
    cmd: { type: 'string' },
    ack: {
      type: 'object',
      required: ['observed', 'result', 'result_name', 'accepted'],
      properties: {
        observed: { type: 'boolean' },
        result: { ...integer, description: 'MAV_RESULT' },
        result_name: text,
        accepted: {
          type: 'boolean',
          description:
            'by its ack and, on PX4, by its state: false too where the result is ACCEPTED and it does not do it',
        },
        statustext: { type: 'string', description: "the vehicle's own words" },
        reasons: {
          type: 'array',
          items: { type: 'string' },
          description: 'all its reasons, also earlier ones against arming',
        },
        hint: {
          type: 'string',
          description: "what helps, in the node's words, where the vehicle does not say it",
        },
      },
      additionalProperties: false,
    },
    mode: {
      type: 'string',
      description:
        'the flight mode that it was changed to for it: by a take-off, or because it refused the command or does not have it',
    },
    silent_s: {
      type: ['number', 'null'],
      description:
        's since anything was heard of the vehicle, where that is more than 3; null: not since the link started',
    },
    back_after_s: {
      type: ['number', 'null'],
      description: 'rebootAutopilot, once accepted: s until the vehicle was back; null: not within 60 s',
    },
    done: { type: 'boolean', description: 'with wait: whether it is done' },
    ended: {
      enum: ['reached', 'disarmed', 'mode_changed', 'timeout', 'link_lost'],
      description: 'with wait, once it was accepted: why the wait ended; the vehicle goes on after a timeout',
    },
    waited_s: { type: 'number' },
    state: {
      type: 'string',
      description: 'with wait: the last state of the vehicle in one line, for people',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const commandList = {
  title: 'CommandList',
  type: 'object',
  required: ['commands'],
  properties: {
    commands: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['description', 'args'],
        properties: {
          description: { type: 'string' },
          args: { type: 'array', items: { type: 'object' } },
          confirm: { type: 'string', description: 'what confirm has to say' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
