import { computed, type ReadonlySignal, signal } from '@preact/signals';

const MAX_STATES = 100;

/** States that never change, of which the newest is shown: back and forth again, as far as they are kept. */
export class History<State> {
  readonly #state;
  readonly #past = signal<readonly State[]>([]);
  readonly #future = signal<readonly State[]>([]);
  readonly canUndo = computed(() => this.#past.value.length > 0);
  readonly canRedo = computed(() => this.#future.value.length > 0);

  constructor(first: State) {
    this.#state = signal(first);
  }

  get state(): ReadonlySignal<State> {
    return this.#state;
  }

  /** What was undone is gone. */
  push(state: State): void {
    this.#past.value = [...this.#past.value.slice(1 - MAX_STATES), this.#state.value];
    this.#future.value = [];
    this.#state.value = state;
  }

  /** Another state that nobody did, and that therefore is not undone. */
  replace(state: State): void {
    this.#state.value = state;
  }

  /** @returns the state from before; null: there is none */
  undo(): State | null {
    return this.#step(this.#past, this.#future);
  }

  redo(): State | null {
    return this.#step(this.#future, this.#past);
  }

  #step(from: { value: readonly State[] }, to: { value: readonly State[] }): State | null {
    const state = from.value.at(-1);
    if (state === undefined) return null;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, this.#state.value];
    this.#state.value = state;
    return state;
  }
}
