import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from './json-schema.ts';

const time = { type: ['string', 'null'], description: 'RFC 3339' } as const;
const bytes = { type: 'integer', minimum: 0 } as const;

/** What goes to the store, and what is there. */
export const uploads = {
  title: 'Uploads',
  type: 'object',
  required: ['enabled', 'store', 'waiting_for', 'problem', 'waiting_files', 'waiting_bytes', 'uploads'],
  properties: {
    enabled: { type: 'boolean', description: 'a store is set' },
    store: { type: ['string', 'null'], description: 'its address and bucket' },
    waiting_for: {
      enum: ['disarmed', 'unmetered', 'store', null],
      description:
        'what the next file waits for: a vehicle that is disarmed, an uplink that is not paid by volume, a store that answers; null: nothing',
    },
    problem: { type: ['string', 'null'], description: 'why the last attempt failed' },
    waiting_files: bytes,
    waiting_bytes: bytes,
    uploads: {
      type: 'array',
      description: 'newest first, at most 2000',
      items: {
        title: 'Upload',
        type: 'object',
        required: ['kind', 'name', 'size_bytes', 'state', 'sent_bytes', 'uploaded_at', 'deleted_after'],
        properties: {
          kind: { enum: ['recordings', 'tlogs', 'flight-logs'] },
          name: { type: 'string' },
          size_bytes: bytes,
          state: {
            enum: ['waiting', 'uploading', 'uploaded'],
            description: 'uploaded: the store has it, and its size and checksum were compared',
          },
          sent_bytes: { type: ['integer', 'null'], description: 'null: not begun by this process' },
          uploaded_at: time,
          deleted_after: { ...time, description: 'from when it may be deleted here; null: it stays' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;
export type Uploads = Frozen<FromSchema<typeof uploads>>;
