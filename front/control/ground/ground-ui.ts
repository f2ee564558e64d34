import { Serial } from '../../../shared/async/serial.ts';
import { JsonFile } from '../../../shared/json-file.ts';
import { checked } from '../../../shared/schemas/checked.ts';
import { type GroundUiChange, type GroundUiState, groundUi } from '../../../shared/schemas/ground-station.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';

/** Fills in the defaults. */
const validate = fileValidatorOf(groundUi, { useDefaults: true });

/** What a ground station shows on its screens and what its buttons do; the drivers are extensions. */
export class GroundUi {
  readonly #file: JsonFile<GroundUiState>;
  readonly #changes = new Serial();

  constructor(file: string) {
    this.#file = new JsonFile(file, validate, { mode: 0o600, indent: 2 });
  }

  /** @throws ApiError E_STORE for a file that cannot be used */
  async read(): Promise<GroundUiState> {
    return (await this.#file.load()) ?? checked(validate, {});
  }

  /** Members that are given replace those that are kept. @throws ApiError E_STORE; then nothing has changed */
  async change({ oled, buttons, screens }: GroundUiChange): Promise<GroundUiState> {
    return this.#changes.run(async () => {
      const before = await this.read();
      const next: GroundUiState = {
        ...before,
        oled: { ...before.oled, ...oled },
        buttons: { ...before.buttons, ...buttons },
        screens: { ...before.screens, ...screens },
      };
      await this.#file.store(next);
      return next;
    });
  }
}
