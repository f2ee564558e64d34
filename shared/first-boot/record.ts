import { JsonFile, OTHERS_WRITE } from '../json-file.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { fileValidatorOf } from '../schemas/validator.ts';

/** What came of one thing that the card's file asked for. */
export interface Part {
  readonly part: string;
  readonly ok: boolean;
  /** A sentence; never a passphrase. */
  readonly detail: string;
}

/** That the card's file was read, once, and what came of it. */
export interface FirstBootRecord {
  readonly version: 1;
  readonly file: string;
  /** RFC 3339, by the clock of that moment, which a board without one had from its last shutdown. */
  readonly read_at: string;
  /** Null: the file was refused as a whole and nothing of it was applied; it is read again at the next start. */
  readonly parts: readonly Part[] | null;
  /** Why it was refused. */
  readonly problem: string | null;
}

const RECORD = {
  type: 'object',
  required: ['version', 'file', 'read_at', 'parts', 'problem'],
  properties: {
    version: { const: 1 },
    file: { type: 'string' },
    read_at: { type: 'string' },
    parts: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['part', 'ok', 'detail'],
        properties: { part: { type: 'string' }, ok: { type: 'boolean' }, detail: { type: 'string' } },
      },
    },
    problem: { type: ['string', 'null'] },
  },
} as const satisfies JsonSchema;

const validate = fileValidatorOf(RECORD);

/** Not there where nothing was read yet. */
export function firstBootFile(path: string): JsonFile<FirstBootRecord> {
  return new JsonFile(path, validate, { mode: 0o640, forbidden: OTHERS_WRITE });
}
