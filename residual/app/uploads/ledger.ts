import type { FromSchema } from 'json-schema-to-ts';
import { JsonFile } from '../../../shared/json-file.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';

const MAX_FILES = 20_000;

const entry = {
  type: 'object',
  required: ['id', 'store', 'bytes', 'modified', 'upload_id', 'etag', 'uploaded_at'],
  properties: {
    id: { type: 'string', maxLength: 300, description: 'kind/name' },
    store: { type: 'string', maxLength: 700, description: 'endpoint, bucket and prefix' },
    bytes: { type: 'integer' },
    modified: { type: 'number', description: 'ms since 1970' },
    upload_id: {
      type: ['string', 'null'],
      maxLength: 2000,
      description: 'of an upload in parts that was begun',
    },
    etag: {
      type: ['string', 'null'],
      maxLength: 200,
      description: 'of the object; null: it is not there yet',
    },
    uploaded_at: { type: ['integer', 'null'], description: 'ms since 1970' },
    told: { type: 'boolean', description: 'the fleet knows where it is' },
  },
  additionalProperties: false,
} as const;

const ledger = {
  type: 'object',
  required: ['version', 'files'],
  properties: { version: { const: 1 }, files: { type: 'array', items: entry, maxItems: MAX_FILES } },
  additionalProperties: false,
} as const;

/** What is known of a file that was uploaded, or is on its way. */
export type LedgerEntry = Readonly<FromSchema<typeof entry>>;

/** `uploads.json`: which files are in the store. Without it they are looked for there, and sent again only where they differ. */
export class Ledger {
  readonly #file: JsonFile<FromSchema<typeof ledger>>;
  readonly #log: Logger;
  #files = new Map<string, LedgerEntry>();

  constructor(path: string, log: Logger) {
    this.#file = new JsonFile(path, fileValidatorOf(ledger), { mode: 0o600, maxBytes: 32_000_000 });
    this.#log = log;
  }

  async read(): Promise<void> {
    const found = await this.#file.readOrPutAside((problem) =>
      this.#log.warn(`uploads: ${problem} It is made anew.`),
    );
    this.#files = new Map(found?.files.map((each) => [each.id, each]));
  }

  find(id: string): LedgerEntry | undefined {
    return this.#files.get(id);
  }

  /** Resolves when it is on the disk. @throws the file system's own error */
  async note(noted: LedgerEntry): Promise<void> {
    this.#files.delete(noted.id);
    this.#files.set(noted.id, noted);
    await this.#write();
  }

  /** Forgets files that are not there any more. @returns those whose upload was begun */
  async keep(there: ReadonlySet<string>): Promise<readonly LedgerEntry[]> {
    const gone = [...this.#files.values()].filter(({ id }) => !there.has(id));
    for (const { id } of gone) this.#files.delete(id);
    if (gone.length > 0) await this.#write();
    return gone.filter(({ upload_id: begun, etag }) => begun !== null && etag === null);
  }

  async #write(): Promise<void> {
    const files = [...this.#files.values()].slice(-MAX_FILES);
    await this.#file.write({ version: 1, files });
  }
}
