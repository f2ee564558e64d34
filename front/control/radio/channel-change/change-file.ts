import { JsonFile, OTHERS_WRITE } from '../../../../shared/json-file.ts';
import type { JsonSchema } from '../../../../shared/schemas/json-schema.ts';
import { fileValidatorOf } from '../../../../shared/schemas/validator.ts';

/** A change of the channel that is not over, as this end keeps it: either channel may be the one that holds. */
export interface OpenChange {
  /** The same at both ends. */
  readonly id: string;
  readonly from: number;
  readonly to: number;
  /** A ground station: where it has met its drones; null until then, and on a drone. */
  readonly settled: number | null;
  /** A ground station: the drones that were asked to change, and those that do not know yet that it is over. */
  readonly drones: readonly string[];
  readonly left: readonly string[];
}

export interface ChangeStore {
  /** @throws Error if the file cannot be used */
  read(): Promise<OpenChange | null>;
  /** Resolves when it would survive a power cut; so does `remove`. */
  write(change: OpenChange): Promise<void>;
  remove(): Promise<void>;
}

const CHANNEL = { type: 'integer', minimum: 1, maximum: 196 } as const;
const IDS = { type: 'array', maxItems: 64, items: { type: 'string', maxLength: 64 } } as const;
const SCHEMA = {
  type: 'object',
  required: ['id', 'from', 'to', 'settled', 'drones', 'left'],
  properties: {
    id: { type: 'string', maxLength: 64 },
    from: CHANNEL,
    to: CHANNEL,
    settled: { ...CHANNEL, type: ['integer', 'null'] },
    drones: IDS,
    left: IDS,
  },
} as const satisfies JsonSchema;

const validate = fileValidatorOf(SCHEMA);
/** `radio-change.json`. */
export function changeFile(path: string): ChangeStore {
  return new JsonFile<OpenChange>(path, validate, { mode: 0o600, forbidden: OTHERS_WRITE });
}
