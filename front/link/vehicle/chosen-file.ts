import { Serial } from '../../../shared/async/serial.ts';
import { messageOf } from '../../../shared/errors.ts';
import { JsonFile, OTHERS_WRITE } from '../../../shared/json-file.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';
import type { KeptVehicle } from './choice.ts';

const byte = { type: 'integer', minimum: 0, maximum: 255 } as const;

const validFile = fileValidatorOf({
  type: 'object',
  required: ['version', 'source', 'system', 'component', 'autopilot', 'type', 'armed'],
  properties: {
    version: { const: 1 },
    /** `mavlink.source`: behind another one is another vehicle. */
    source: { type: 'string' },
    system: byte,
    component: byte,
    autopilot: byte,
    type: byte,
    armed: { type: 'boolean' },
  },
  additionalProperties: false,
});

/** Which vehicle was chosen behind the source, and whether it was armed by its last word: a restart keeps the choice. */
export class ChosenFile {
  readonly #file: JsonFile<KeptVehicle & { readonly version: 1; readonly source: string }>;
  readonly #source: string;
  readonly #log: Logger;
  readonly #turns = new Serial();
  #newest: KeptVehicle | null = null;
  #failed = false;

  /** @param source as in the configuration, or what it stands for */
  constructor(path: string, source: string, log: Logger) {
    this.#file = new JsonFile(path, validFile, { mode: 0o644, forbidden: OTHERS_WRITE });
    this.#source = source;
    this.#log = log;
  }

  /** Null: none was chosen behind this source, or the file is damaged. */
  async load(): Promise<KeptVehicle | null> {
    const kept = await this.#file.readOrPutAside((problem) =>
      this.#log.error(`vehicle: ${problem} The first vehicle that is heard is chosen.`),
    );
    if (kept === null || kept.source !== this.#source) return null;
    const { version: _version, source: _source, ...vehicle } = kept;
    return vehicle;
  }

  /** Written beside what goes on; of several that wait the newest counts. */
  keep(vehicle: KeptVehicle): void {
    const waits = this.#newest !== null;
    this.#newest = vehicle;
    if (waits) return;
    this.#turns
      .run(async () => this.#write())
      .then(
        () => {
          this.#failed = false;
        },
        (error: unknown) => {
          if (!this.#failed) this.#log.error(`${this.#file.path}: ${messageOf(error)}`);
          this.#failed = true;
        },
      );
  }

  async #write(): Promise<void> {
    const vehicle = this.#newest;
    this.#newest = null;
    if (vehicle !== null) await this.#file.write({ version: 1, source: this.#source, ...vehicle });
  }
}
