import { writeAtomic } from '../../../../shared/files/atomic-write.ts';
import { readOwn } from '../../../../shared/files/private-file.ts';
import { removeDurably } from '../../../../shared/files/remove-durably.ts';
import { faultOf } from '../../../../shared/schemas/fault.ts';
import type { JsonSchema } from '../../../../shared/schemas/json-schema.ts';
import { validatorOf } from '../../../../shared/schemas/validator.ts';

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

const validate = validatorOf(SCHEMA);
const OTHERS_WRITE = 0o022;

/** `radio-change.json`, replaced as a whole. */
export class ChangeFile implements ChangeStore {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async read(): Promise<OpenChange | null> {
    const text = await readOwn(this.#path, OTHERS_WRITE);
    if (text === null) return null;
    const value: unknown = JSON.parse(text);
    const [violation] = validate(value) ?? [];
    if (violation !== undefined) throw new Error(`${this.#path}: ${faultOf(violation, 'it')}`);
    return value as OpenChange;
  }

  async write(change: OpenChange): Promise<void> {
    await writeAtomic(this.#path, `${JSON.stringify(change)}\n`, 0o600);
  }

  async remove(): Promise<void> {
    await removeDurably(this.#path);
  }
}
