import { ApiError } from '../../../shared/errors.ts';
import {
  type ExtensionValues,
  MAX_EXTENDING,
  plainValues,
  VALUES_FRESH_MS,
} from '../../../shared/schemas/extension-values.ts';
import type { Clock } from '../clock.ts';
import type { Methods, Part } from '../part.ts';

/** What extensions add to the telemetry. Nothing of it is the vehicle's, and nothing in svc-link decides by it. */
export class ExtensionAdditions implements Part {
  readonly methods = {
    extend: ({ extension, values }) => {
      this.#set(extension, values);
      this.#onChange();
      return {};
    },
  } satisfies Methods;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #values = new Map<string, { readonly values: ExtensionValues; readonly at: number }>();

  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** @param values null: the extension has ended @throws ApiError E_BUSY for a ninth extension */
  #set(extension: string, values: ExtensionValues | null): void {
    this.#forget();
    if (values === null) {
      this.#values.delete(extension);
      return;
    }
    if (!this.#values.has(extension) && this.#values.size >= MAX_EXTENDING)
      throw new ApiError('E_BUSY', `${MAX_EXTENDING} other extensions add to the telemetry already.`);
    this.#values.set(extension, { values: plainValues(values), at: this.#clock.now() });
  }

  /** By the extension's id. */
  get values(): Readonly<Record<string, ExtensionValues>> {
    this.#forget();
    return Object.fromEntries([...this.#values].map(([extension, { values }]) => [extension, values]));
  }

  #forget(): void {
    const oldest = this.#clock.now() - VALUES_FRESH_MS;
    for (const [extension, { at }] of this.#values) if (at < oldest) this.#values.delete(extension);
  }
}
