import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { faultOf } from '../../../shared/schemas/fault.ts';
import { type GroundUiChange, type GroundUiState, groundUi } from '../../../shared/schemas/ground-station.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';

/** What a ground station shows on its screens and what its buttons do; the drivers are extensions. */
export class GroundUi {
  readonly #file: string;
  readonly #changes = new Serial();
  /** Fills in the defaults. */
  readonly #validate = validatorOf(groundUi, { useDefaults: true });

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws ApiError E_STORE for a file that cannot be used */
  async read(): Promise<GroundUiState> {
    try {
      const text = await readPrivate(this.#file);
      const value: unknown = text === null ? {} : JSON.parse(text);
      const [violation] = this.#validate(value) ?? [];
      if (violation !== undefined) throw new Error(faultOf(violation, 'it'));
      return value as GroundUiState;
    } catch (error) {
      throw new ApiError(
        'E_STORE',
        `${this.#file} cannot be used: ${messageOf(error)}. Repair or remove it.`,
      );
    }
  }

  /** Members that are given replace those that are kept. @throws ApiError E_STORE; then nothing has changed */
  async change({ oled, buttons, screens }: GroundUiChange): Promise<GroundUiState> {
    return this.#changes.run(async () => {
      const before = await this.read();
      const next: GroundUiState = {
        oled: { ...before.oled, ...oled },
        buttons: { ...before.buttons, ...buttons },
        screens: { ...before.screens, ...screens },
      };
      await writeAtomic(this.#file, `${JSON.stringify(next, null, 2)}\n`, 0o600).catch((error: unknown) => {
        throw new ApiError('E_STORE', `${this.#file} could not be written: ${messageOf(error)}.`);
      });
      return next;
    });
  }
}
