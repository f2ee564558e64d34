import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from './json-schema.ts';

/** Of each field; few enough for whoever reads them one by one. */
const MOST_POINTS = 500;
const MOST_FIELDS = 8;

const seconds = { type: 'number', minimum: 0 } as const satisfies JsonSchema;

export const logSeries = {
  title: 'LogSeries',
  description: 'What fields of a log were: the lowest and the highest value of each part of the time.',
  type: 'object',
  required: ['from', 'to', 'fields'],
  properties: {
    from: { ...seconds, description: 'seconds since the first record, as the report has them' },
    to: { ...seconds, description: 'seconds' },
    fields: {
      type: 'array',
      maxItems: MOST_FIELDS,
      items: {
        type: 'object',
        required: ['name', 'points'],
        properties: {
          name: { type: 'string', description: 'message and field, `BAT.Volt`' },
          points: {
            type: 'array',
            maxItems: MOST_POINTS,
            description: 's and value, in the order of their times',
            items: {
              type: 'array',
              minItems: 2,
              maxItems: 2,
              items: { type: 'number' },
              examples: [[30.2, 14.1]],
            },
          },
        },
      },
    },
  },
} as const satisfies JsonSchema;

export type LogSeries = FromSchema<typeof logSeries>;

/** `?fields=BAT.Volt,POWR.Vcc&from=20&to=40&points=100` */
export const logSeriesQuery = {
  type: 'object',
  required: ['fields'],
  properties: {
    fields: {
      type: 'string',
      maxLength: 600,
      pattern:
        '^\\w{1,60}(?:\\[\\d\\])?\\.[\\w.\\[\\]]{1,60}(?:,\\w{1,60}(?:\\[\\d\\])?\\.[\\w.\\[\\]]{1,60}){0,7}$',
      examples: ['BAT.Volt,POWR.Vcc'],
      description:
        'up to 8, separated by commas; `BAT[1].Volt` of the second battery; of a telemetry log those that its report names',
    },
    from: { ...seconds, description: 'seconds since the first record; default: all' },
    to: { ...seconds, description: 'seconds since the first record; default: all' },
    points: {
      type: 'integer',
      minimum: 2,
      maximum: MOST_POINTS,
      description: 'of each field, at most; default: 200',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
