import { type AskState, usePolled } from '../parts/use-ask.ts';
import { ask } from './client.ts';

/**
 * What the hub answers at a path, asked when the part is shown and again every `everyMs`, unless the page is hidden.
 * @param everyMs null: once
 */
export function useHub<T>(path: string, everyMs: number | null = null): AskState<T> {
  return usePolled(path, async (signal) => ask<T>(path, { signal }), everyMs);
}
